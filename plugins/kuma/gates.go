package kuma

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

var (
	identityKind = model.GroupKind{Group: group, Kind: "MeshIdentity"}
	tlsKind      = model.GroupKind{Group: group, Kind: "MeshTLS"}
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"kuma.Permissions": buildPermissionGates, "kuma.TLS": buildTLSGates,
		"kuma.Limits": buildLimitGates, "kuma.Timeouts": buildTimeoutGates, "kuma.Retries": buildRetryGates}
}

// isInbound reports whether settings are those of an inbound.
func isInbound(in protect.Input) bool { return in.Resolution().Node(in.Node).Role == inboundRole }

// locatedValue is a value with the object that says it, and where.
type locatedValue struct {
	value  any
	object model.Ref
	field  string
}

// findInboundConf is what of a list holds for all requests to an inbound: the confs without a
// match, the last one that has a field wins (kuma 348b6528bc,
// policies/core/rules/inbound/inboundrules.go:17-33).
func findInboundConf(v *resolve.Verdict, path ...string) (locatedValue, bool) {
	var out locatedValue
	found := false
	for i := range v.Result.Rules {
		rule := &v.Result.Rules[i]
		entry := merge.Unpack(rule.Value)
		if model.Get(entry, "match") != nil || len(rule.From) == 0 {
			continue
		}
		if value := model.Get(entry, append([]string{"default"}, path...)...); value != nil {
			out, found = locatedValue{value, findWriter(v, rule), rule.Name + ".default." +
				strings.Join(path, ".")}, true
		}
	}
	return out, found
}

// findWriter is the policy that wrote a rule.
func findWriter(v *resolve.Verdict, rule *merge.Rule) model.Ref {
	return v.Layers[rule.From[len(rule.From)-1].Layer].Policy.Object.Ref
}

// findConf is a setting of the place: of an inbound that of its list, else what is merged.
func findConf(in protect.Input, path ...string) (locatedValue, bool) {
	if isInbound(in) {
		return findInboundConf(in.Verdict, path...)
	}
	value := in.Value(path...)
	return locatedValue{value, in.Source(path...), strings.Join(path, ".")}, value != nil
}

// openness is why requests come to an inbound without a certificate of the mesh; no code: they do
// not.
type openness struct {
	code    gate.Code
	object  model.Ref
	field   string
	missing string // what is not in the input and decides
}

// weakenGate adds why a gate does not hold to it.
func (o *openness) weakenGate(g *protect.Gate) {
	own := g.Object
	g.Object = o.object
	g.AddReason(o.code, o.field)
	g.Object = own
	if o.missing != "" {
		g.Reasons[len(g.Reasons)-1].Message += ": " + o.missing
	}
}

// findOpenness tells whether a proxy demands certificates at an inbound. Without an identity for
// the workload it has no TLS at all, and asks no permissions
// (meshtrafficpermission/plugin/v1alpha1/plugin.go:42-75); a permissive inbound takes plain text as
// well, for which none are asked.
func findOpenness(in protect.Input) openness {
	node := in.Resolution().Node(in.Node)
	snapshot, settings := in.Snapshot(), in.Resolution().Settings
	labels := computeLabels(node.Object, snapshot, settings)
	ref := model.Ref{Group: group, Kind: "Mesh", Name: labels[meshLabel]}
	mesh := snapshot.Get(ref)
	mode, identity := locatedValue{value: "Strict"}, hasIdentity(snapshot, settings, labels)
	// 3.0 does not read what the Mesh says of mTLS
	if mesh != nil && settingsOf(mesh).Text("mtls", "enabledBackend") != "" &&
		isDialect214(withDialect(snapshot, settings)) {
		mtls := settingsOf(mesh).Field("mtls")
		for _, b := range mtls.Field("backends").Items {
			if name := b.Text("name"); name == "" || name != mtls.Text("enabledBackend") {
				continue
			}
			if strings.EqualFold(b.Text("mode"), "PERMISSIVE") {
				mode = locatedValue{"Permissive", ref, "mtls"}
			}
		}
		identity = identity || mtls.Text("enabledBackend") != ""
	}
	if v := in.InForceAt(tlsKind, in.Node); v != nil {
		if own, found := findInboundConf(v, "mode"); found {
			mode = own
		}
	}
	switch home := settings.Text("kuma.systemNamespace"); {
	case mode.value == "Permissive":
		return openness{gate.AnonymousAllowed, mode.object, mode.field, ""}
	case identity:
	case mesh == nil && !snapshot.HasAll(meshKind, ""):
		return openness{gate.MissingObject, ref, "mtls", ref.String()}
	case !snapshot.HasAll(identityKind, home):
		return openness{gate.MissingObject, ref, "mtls", "a MeshIdentity that selects the Dataplane"}
	default:
		return openness{gate.Disabled, ref, "mtls", ""}
	}
	return openness{}
}

// hasIdentity reports whether a MeshIdentity selects a proxy; one without a selector selects none
// (meshidentity/api/v1alpha1/helpers.go:30-42).
func hasIdentity(in *model.Snapshot, s model.Settings, labels map[string]string) bool {
	return slices.ContainsFunc(in.OfKind(identityKind), func(o *model.Object) bool {
		by := o.Body.At("spec", "selector", "dataplane")
		selector, err := selector.ReadLabelSelector(by)
		return by.IsObject() && err == nil && selector.SelectsLabels(labels) && findMesh(o, in) == labels[meshLabel]
	})
}

// buildTLSGates are those of the TLS of an inbound.
func buildTLSGates(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.IsFirst() || !isInbound(in) || len(in.Verdict.Result.Rules) == 0 {
		return nil
	}
	g.Refuses = protect.MayRefuse
	rule := &in.Verdict.Result.Rules[0]
	g.Object, g.Field = findWriter(in.Verdict, rule), rule.Name
	if own, found := findInboundConf(in.Verdict, "mode"); found {
		g.Object, g.Field = own.object, own.field
	}
	if open := findOpenness(in); open.code != "" {
		open.weakenGate(&g)
	}
	return []protect.Gate{g}
}

// permission is a rule of a MeshTrafficPermission as gates see it.
type permission struct {
	object                model.Ref
	field                 string
	allows, shadows       bool // somebody; of those it only reports that they would be denied
	allowsAll, shadowsAll bool
	denies, deniesAll     bool
}

// buildPermissionGates are those of the list of an inbound: any deny decides, then any allow, and
// without one requests are denied (policies/meshtrafficpermission/xds/rbac_configurer.go:120-145).
func buildPermissionGates(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.IsFirst() || !isInbound(in) {
		return nil
	}
	var all []permission
	for i := range in.Verdict.Result.Rules {
		all = append(all, readPermissions(in.Verdict, &in.Verdict.Result.Rules[i])...)
	}
	open := findOpenness(in)
	some := func(has func(*permission) bool) bool {
		return slices.ContainsFunc(all, func(p permission) bool { return has(&p) })
	}
	denies := some(func(p *permission) bool { return p.denies })
	var out []protect.Gate
	add := func(p *permission, codes ...gate.Code) {
		one := g
		one.Object, one.Field, one.Group = p.object, p.field, in.GroupOf("permissions")
		if g.Property == gate.Authentication && !slices.Contains(codes, gate.DeniesAll) {
			one.Method = "mtls"
		}
		if open.code != "" {
			open.weakenGate(&one)
		} else {
			for _, code := range codes {
				one.AddReason(code, p.field)
			}
		}
		out = append(out, one)
	}
	if some(func(p *permission) bool { return p.deniesAll }) || !some(func(p *permission) bool {
		return p.allows ||
			p.shadows
	}) {
		for i := range all {
			if all[i].deniesAll || !some(func(p *permission) bool { return p.deniesAll }) {
				add(&all[i], gate.DeniesAll)
			}
		}
		return out
	}
	for i := range all {
		p := &all[i]
		switch {
		case g.Property == gate.Authorization && !denies && p.shadowsAll:
			add(p, gate.DryRun)
		case g.Property == gate.Authorization && !denies && p.allowsAll:
			add(p, gate.AllowsAll)
		case p.allows || p.shadows || p.denies:
			add(p)
		}
	}
	return out
}

// readPermissions reads a rule: in 3.0 lists of matches, in 2.14 an action for a subset of clients.
func readPermissions(v *resolve.Verdict, rule *merge.Rule) []permission {
	if len(rule.From) == 0 {
		return nil
	}
	entry := merge.Unpack(rule.Value)
	if len(rule.Path) > 2 { // a field of a rule by subsets
		return readSubsetPermission(v, rule, entry)
	}
	p := permission{object: findWriter(v, rule), field: rule.Name}
	matches := func(name string) (some, all bool) {
		list, _ := model.Get(entry, "default", name).([]any)
		return len(list) > 0, slices.ContainsFunc(list, func(m any) bool {
			fields, ok := m.(map[string]any)
			return ok && len(fields) == 0
		})
	}
	p.allows, p.allowsAll = matches("allow")
	p.shadows, p.shadowsAll = matches("allowWithShadowDeny")
	p.denies, p.deniesAll = matches("deny")
	if action := model.Text(entry, "default", "action"); action != "" { // `from` that is read as a rule for everybody
		p.setAction(action, true)
	}
	return []permission{p}
}

// setAction sets what an action does, for everybody or for some.
func (p *permission) setAction(action string, everybody bool) {
	switch action {
	case "Allow":
		p.allows, p.allowsAll = true, everybody
	case "AllowWithShadowDeny":
		p.shadows, p.shadowsAll = true, everybody
	default:
		p.denies, p.deniesAll = true, everybody
	}
}

// readSubsetPermission reads the action of a rule by the tags of clients. Subsets do not overlap:
// where no rule denies, the one of those who have no tag that is named lets all others in.
func readSubsetPermission(v *resolve.Verdict, rule *merge.Rule, action any) []permission {
	if rule.Path[len(rule.Path)-1].Name != "action" {
		return nil
	}
	text, _ := action.(string)
	p := permission{object: findWriter(v, rule), field: rule.Name}
	at := slices.IndexFunc(v.Result.Rules, func(o merge.Rule) bool {
		return len(o.Path) == 3 && o.Path[1] == rule.Path[1] && o.Path[2].Name == "subset"
	})
	everybodyElse := true
	if at >= 0 {
		tags, _ := merge.Unpack(v.Result.Rules[at].Value).([]any)
		everybodyElse = !slices.ContainsFunc(tags, func(t any) bool { return model.Get(t, "not") != true })
		p.setAction(text, everybodyElse)
		p.deniesAll = p.deniesAll && len(tags) == 0
	}
	return []permission{p}
}

// buildLimitGates are those of a local rate limit: each proxy counts for itself.
func buildLimitGates(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.IsFirst() {
		return nil
	}
	rate, found := findConf(in, "local", "http", "requestRate")
	off, switched := findConf(in, "local", "http", "disabled")
	isOff := switched && off.value == true
	switch {
	case !found && !isOff:
		return nil
	case isOff:
		g.Object, g.Field = off.object, off.field
		g.AddReason(gate.Disabled, off.field)
		return []protect.Gate{g}
	}
	g.Object, g.Field = rate.object, rate.field
	g.Counters = []protect.Counter{{Limit: model.Get(rate.value, "num"), Per: model.Text(rate.value, "interval"),
		Scope: "backend", Replicas: "each"}}
	return []protect.Gate{g}
}

// buildTimeoutGates are those of what bounds a request as a whole; zero is none.
func buildTimeoutGates(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.IsFirst() {
		return nil
	}
	var out []protect.Gate
	for _, name := range []string{"requestTimeout", "maxStreamDuration"} {
		s, found := findConf(in, "http", name)
		if !found {
			continue
		}
		one := g
		one.Object, one.Field, one.Refuses = s.object, s.field, protect.NeverRefuses
		if text, _ := s.value.(string); strings.Trim(text, "0hms.") == "" {
			one.AddReason(gate.Unlimited, s.field)
		}
		out = append(out, one)
	}
	return out
}

// buildRetryGates are those of retries of requests.
func buildRetryGates(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.IsFirst() {
		return nil
	}
	var out []protect.Gate
	for _, name := range []string{"http", "grpc"} {
		s, found := findConf(in, name)
		if !found {
			continue
		}
		one := g
		one.Object, one.Field, one.Refuses = s.object, s.field, protect.NeverRefuses
		if n, told := findConf(in, name, "numRetries"); told && isZero(n.value) {
			one.AddReason(gate.Disabled, n.field)
		}
		out = append(out, one)
	}
	return out
}

func isZero(v any) bool {
	switch n := v.(type) {
	case int64:
		return n == 0
	case float64:
		return n == 0
	}
	return false
}
