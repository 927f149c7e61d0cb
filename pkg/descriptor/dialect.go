package descriptor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// A dialect is how one vendor reads a kind that another file describes: a descriptor with
// "dialect", whose fields take the place of the other's where all Gateways belong to the vendor's
// controllers, or where a setting of the vendor says so.

// isDialect reports whether a descriptor is a dialect.
func isDialect(n *yaml.Node) bool {
	return form.TextOf(n, "dialect") == "true" || form.TextOf(form.Member(n, "dialect"), "setting") != ""
}

// registerDialect registers a descriptor that is a dialect.
func (b *builder) registerDialect(k rawKind) {
	gk := model.ParseGroupKind(form.TextOf(k.node, "for"))
	b.dialects[gk] = append(b.dialects[gk], k)
}

// applyDialect returns the descriptor with the fields of the dialect in the place of its own.
func (k *rawKind) applyDialect(node *yaml.Node) *yaml.Node {
	over := *k.node
	over.Content = nil
	for i := 0; i+1 < len(k.node.Content); i += 2 {
		switch key := k.node.Content[i]; key.Value {
		case "apiVersion", "kind", "for", "dialect":
		default:
			over.Content = append(over.Content, key, k.node.Content[i+1])
		}
	}
	return replaceFields(node, &over)
}

// checkDialects reads every dialect once, so that a mistake shows at once.
func (b *builder) checkDialects() []string {
	var wrong []string
	for _, gk := range slices.SortedFunc(maps.Keys(b.dialects), model.GroupKind.Compare) {
		for i := range b.dialects[gk] {
			d := &b.dialects[gk][i]
			r := &form.Reader{File: d.file}
			switch {
			case b.raw[gk].node == nil:
				r.Fail(d.node, "there is no descriptor of %s that this could be a dialect of", gk)
			case b.controllers[d.vendor] == nil:
				r.Fail(d.node, "a dialect needs a vendor with \"controllers\"")
			case !b.hasSwitch(d):
				r.Fail(form.Member(d.node, "dialect"), "%s has no setting %q that is true or false", d.vendor,
					form.TextOf(form.Member(d.node, "dialect"), "setting"))
			case b.raw[gk].user:
				continue // the user's own description is as it is
			}
			err := r.Err()
			if err == nil {
				_, err = b.readDescriptor(gk, b.catalog.chosenSettings, d)
			}
			if err != nil {
				wrong = append(wrong, strings.Split(err.Error(), "\n")...)
			}
		}
	}
	return wrong
}

// hasSwitch reports whether the setting that a dialect names is there.
func (b *builder) hasSwitch(d *rawKind) bool {
	name := form.TextOf(form.Member(d.node, "dialect"), "setting")
	return name == "" || slices.ContainsFunc(b.catalog.settings, func(s Setting) bool {
		return s.Name == d.vendor+"."+
			name && s.Type == "bool"
	})
}

// findDialect returns the dialect in which a kind is read: that of the vendor to whom all Gateways
// belong. Where they belong to several, one of which has a dialect, a problem says so, and the kind
// is read as it is described.
func (b *builder) findDialect(gk model.GroupKind, in *model.Snapshot) (*rawKind, []model.Problem) {
	if b.dialects[gk] == nil || b.raw[gk].user || len(in.OfKind(gk)) == 0 {
		return nil, nil
	}
	names := gatewayControllers(in)
	for i := range b.dialects[gk] {
		d := &b.dialects[gk][i]
		if name := form.TextOf(form.Member(d.node, "dialect"), "setting"); name != "" &&
			b.catalog.chosenSettings.Bool(d.vendor+"."+name) {
			return d, nil
		}
		own := b.controllerNames(d.vendor, b.catalog.chosenSettings)
		mine := slices.ContainsFunc(names, func(name string) bool { return slices.Contains(own, name) })
		switch {
		case mine && len(names) == 1:
			return d, nil
		case mine:
			return nil, []model.Problem{{Severity: model.Info, Code: model.NotEvaluated,
				Ref: &model.Ref{Group: gk.Group, Kind: gk.Kind, Name: "*"},
				Message: fmt.Sprintf(
					"the Gateways belong to several controllers (%s): %s is read as the Gateway API says, not as any of them does", strings.Join(names, ", "), gk.Kind)}}
		}
	}
	return nil, nil
}

// targetsOfDialects returns the targets of a kind that is read as it is described, with those of the
// dialects whose vendors may have a Gateway of the input, or of all where that is not known: only
// what none allows is no target. nil: no dialect has other targets.
func (b *builder) targetsOfDialects(k *policy.Kind, settings model.Settings, in *model.Snapshot) []policy.TargetForm {
	if k.Targets == nil || b.raw[k.GroupKind].user || len(in.OfKind(k.GroupKind)) == 0 {
		return nil
	}
	names := gatewayControllers(in)
	unknown := len(names) == 0 || names[0] == ""
	var out []policy.TargetForm
	if unknown {
		out = slices.Clone(k.MayTarget)
	}
	for i := range b.dialects[k.GroupKind] {
		d := &b.dialects[k.GroupKind][i]
		own := b.controllerNames(d.vendor, b.catalog.chosenSettings)
		if !unknown && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(own, name) }) {
			continue
		}
		spoken, err := b.readDescriptor(k.GroupKind, settings, d)
		if err != nil { // tried before
			continue
		}
		for _, form := range spoken.Targets {
			if !slices.Contains(k.Targets, form) && !slices.Contains(out, form) {
				out = append(out, form)
			}
		}
	}
	if out == nil {
		return nil
	}
	return slices.Concat(k.Targets, out)
}

// gatewayControllers returns the controllers that Gateways belong to, sorted; "" stands for those
// that the input does not tell.
func gatewayControllers(in *model.Snapshot) []string {
	var out []string
	for _, o := range in.OfKind(model.GroupKind{Group: policy.GatewayGroup, Kind: "Gateway"}) {
		name := ""
		if class := in.Get(model.Ref{Group: policy.GatewayGroup, Kind: "GatewayClass",
			Name: o.Text("spec", "gatewayClassName")}); class != nil {
			name = class.Text("spec", "controllerName")
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// controllerSetting is the name of the switch by which a vendor lets its controllerName be chosen.
const controllerSetting = "controllerName"

// controllerNames returns the controllerNames of a vendor: what its setting of that name says, else
// those of its document.
func (b *builder) controllerNames(vendor string, settings model.Settings) []string {
	if name := settings.Text(vendor + "." + controllerSetting); name != "" {
		return []string{name}
	}
	return b.controllers[vendor]
}
