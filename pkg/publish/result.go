package publish

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// statesByRole are what becomes of policies by their roles, and the result by which screens show
// it.
var statesByRole = map[string]struct{ state, result string }{
	string(resolve.RoleContributing): {stateEffective, "pass"},
	string(resolve.RolePartial):      {statePartial, "pass"},
	string(resolve.RoleLost):         {stateOverridden, "skip"},
	string(resolve.RoleIgnored):      {stateIgnored, "skip"},
}

// policyResult says what became of one policy at one rule.
func (g *reporter) policyResult(item *view.EffectivePolicy, use *view.PolicyUse) Result {
	at := statesByRole[use.Role]
	properties := map[string]string{"state": at.state, "level": use.Level, "owner": g.owners[*use.Policy]}
	put := func(name, value string) {
		if value != "" {
			properties[name] = value
		}
	}
	if use.Policy.GroupKind().String() != item.PolicyKind {
		put("policyKind", item.PolicyKind)
	}
	if isPublic(use, item.Target.Namespace) {
		put("target", use.Target.String())
	}
	reasons, winners := findLosses(item, use)
	put("reason", strings.Join(reasons, ", "))
	put("overriddenBy", strings.Join(winners, ", "))
	put("via", strings.Join(formatPaths(item.Paths), ", "))
	if len(item.Unread) > 0 {
		put("complete", "false")
	}
	if at.result == "pass" && slices.Contains(g.options.Values, use.Policy.GroupKind()) {
		put("values", formatValues(item, use))
	}
	return Result{Source: resultSource, Policy: formatPolicy(*use.Policy), Rule: item.Target.Section,
		Category: categoryPolicy, Result: at.result,
		Message: formatMessage(at.state, use, reasons, winners), Properties: properties}
}

// formatMessage says the same in a sentence.
func formatMessage(state string, use *view.PolicyUse, reasons, winners []string) string {
	who := fmt.Sprintf("%s, set on the %s,", use.Policy, use.Level)
	switch state {
	case stateEffective:
		return who + " is in force"
	case statePartial:
		return who + " is in force in part" + formatReason(reasons, winners)
	case stateOverridden:
		return who + " is overridden" + formatReason(reasons, winners)
	}
	return who + " does not apply"
}

func formatReason(reasons, winners []string) string {
	out := ""
	if len(winners) > 0 {
		out = ": " + strings.Join(winners, ", ") + " won"
	}
	if len(reasons) > 0 {
		out += " (" + strings.Join(reasons, ", ") + ")"
	}
	return out
}

// isPublic reports whether people of a namespace may know what a policy is attached to: something
// of their own, or on the way of traffic to their routes. The route of another namespace that
// delegates to theirs is neither.
func isPublic(use *view.PolicyUse, namespace string) bool {
	if use.Target.Namespace == namespace || use.Target.Namespace == "" {
		return true
	}
	switch topology.Role(use.Level) {
	case topology.Gateway, topology.ListenerSet, topology.Listener, topology.Namespace, topology.MeshRoot:
		return true
	}
	return false
}

// findLosses returns why settings of a policy are not in force at a target, and the policies that
// won.
func findLosses(item *view.EffectivePolicy, use *view.PolicyUse) (reasons, winners []string) {
	note := func(l *view.Loss) {
		if l.Policy == nil || *l.Policy != *use.Policy || l.Part != use.Part {
			return
		}
		reasons = append(reasons, l.Reason)
		for _, w := range l.LostTo {
			if w.Policy != nil && *w.Policy != *use.Policy {
				winners = append(winners, formatPolicy(*w.Policy))
			}
		}
	}
	for i := range item.Lost {
		note(&item.Lost[i].Loss)
	}
	for i := range item.Rules {
		for j := range item.Rules[i].Lost {
			note(&item.Rules[i].Lost[j])
		}
	}
	slices.Sort(reasons)
	slices.Sort(winners)
	return slices.Compact(reasons), slices.Compact(winners)
}

// formatPaths returns how traffic gets to a target, without the routes that hand it over.
func formatPaths(paths []view.Path) []string {
	var out []string
	for _, p := range paths {
		way := cmp.Or(p.ListenerSet, p.Gateway)
		switch {
		case way != "" && p.Listener != "":
			way += "/" + p.Listener
		case way == "" && p.Mesh != "":
			way = "mesh " + p.Mesh
		case way == "" && p.Direction != "":
			way = p.Direction
		}
		if len(p.DelegatedFrom) > 0 {
			way += " (delegated)"
		}
		if way != "" {
			out = append(out, way)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// formatValues returns the settings in force that a policy is a source of, as JSON.
func formatValues(item *view.EffectivePolicy, use *view.PolicyUse) string {
	out := map[string]any{}
	for _, rule := range item.Rules {
		if slices.ContainsFunc(rule.Sources, func(s view.Source) bool {
			return s.Policy != nil &&
				*s.Policy == *use.Policy
		}) {
			out[rule.Name] = showQuantities(merge.Unpack(rule.Value))
		}
	}
	text, err := json.Marshal(out)
	if err != nil || len(out) == 0 {
		return ""
	}
	return string(text)
}

// quantityPattern is text that is a number, a time, a size or a share.
var quantityPattern = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?[A-Za-z%]{0,3}([0-9]+[a-z]{1,2})*$`)

// hiddenText stands for text that may be anything, as in conditions.
const hiddenText = "…"

// showQuantities returns a value with its numbers, switches, times and sizes; other text is left
// out.
func showQuantities(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			out[key] = showQuantities(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = showQuantities(v[i])
		}
		return out
	case string:
		if !quantityPattern.MatchString(v) || len(v) > maxQuantityLength {
			return hiddenText
		}
	}
	return v
}

// maxQuantityLength is how long a number with its unit may be: digits alone may be a credential as
// well.
const maxQuantityLength = 10

// readOwners finds out whose the policies are: as a label or annotation says, else the object that
// made them, else their namespace.
func (g *reporter) readOwners() {
	for _, k := range g.resolution.Kinds {
		for _, p := range k.Policies {
			o := p.Object
			owner := cmp.Or(o.Annotations[g.options.Owner], o.Labels[g.options.Owner])
			list, _ := o.Get("metadata", "ownerReferences").([]any)
			for _, entry := range list {
				if controller, _ := model.Get(entry, "controller").(bool); controller && owner == "" {
					owner = model.Text(entry, "kind") + " " + model.Text(entry, "name")
				}
			}
			if owner == "" && o.Ref.Namespace != "" {
				owner = "namespace " + o.Ref.Namespace
			}
			g.owners[o.Ref] = cmp.Or(owner, "cluster")
		}
	}
}
