package istio

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// tunnelFields are the fields that ztunnel sees, without those that begin with not, by where they
// stand in a rule; all others are about HTTP
// (pilot/pkg/serviceregistry/ambient/authorization.go:584-666).
var tunnelFields = map[string][]string{
	"source": {"ipBlocks", "notIpBlocks", "namespaces", "notNamespaces", "principals", "notPrincipals",
		"serviceAccounts", "notServiceAccounts"},
	"operation": {"ports", "notPorts"},
}

// tunnelConditions are the conditions that ztunnel understands.
var tunnelConditions = []string{"source.ip", "source.namespace", "source.principal", "destination.ip",
	"destination.port"}

// foldTunnelRules are the rules of AuthorizationPolicies as ztunnel enforces them: it knows ALLOW
// and DENY only, and tries nothing.
func foldTunnelRules(all []authzPolicy) ([]merge.Unit, []merge.Effect) {
	var m foldRecorder
	for _, action := range actions {
		for i, p := range all {
			switch {
			case p.action != action:
			case action != "ALLOW" && action != "DENY" || p.dryRun:
				m.Lose(merge.KeyPath(p.action), p.object.Get("spec", "rules"), i, merge.Ignored)
			default:
				m.addTunnelRules(i, p)
			}
		}
	}
	return m.Units, m.Effects
}

// addTunnelRules adds the rules of one policy. An ALLOW policy whose rules are all left out allows
// nothing; a DENY policy then denies nothing.
func (m *foldRecorder) addTunnelRules(at int, p authzPolicy) {
	items := p.object.Body.At("spec", "rules")
	kept := 0
	n := 0
	for _, rule := range items.Items {
		path := p.rulePath(p.action, n)
		n++
		fields, _ := rule.Value().(map[string]any)
		left, ignored, void := reduceToConnection(fields)
		if len(ignored) > 0 && p.action == "ALLOW" || void {
			m.Lose(path, rule.Value(), at, merge.Ignored)
			continue
		}
		if len(ignored) > 0 {
			left["ignored"] = ignored
		}
		kept++
		m.Take(path, left, at)
	}
	switch {
	case items.Len() == 0:
		m.Take(p.rulePath(p.action, 0), "matches no request: the policy has no rules", at)
	case kept == 0 && p.action == "ALLOW":
		m.Take(p.rulePath(p.action, n),
			"matches nothing: ztunnel drops all rules of the policy, which ask for attributes of HTTP", at)
	}
}

// reduceToConnection returns what is left of a rule where only connections are seen, and the names
// of what is not, sorted. A clause is a list of entries of which one has to match, and one without
// anything left never does: void is true if a clause has no other.
func reduceToConnection(rule map[string]any) (left map[string]any, ignored []any, void bool) {
	left = map[string]any{}
	var names []string
	for _, at := range [][2]string{{"from", "source"}, {"to", "operation"}} {
		entries, _ := rule[at[0]].([]any)
		var kept []any
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			fields, _ := entry[at[1]].(map[string]any)
			rest := map[string]any{}
			for name, value := range fields {
				switch list, _ := value.([]any); {
				case len(list) == 0:
				case slices.Contains(tunnelFields[at[1]], name):
					rest[name] = value
				default:
					names = append(names, name)
				}
			}
			if len(rest) > 0 {
				kept = append(kept, map[string]any{at[1]: rest})
			}
		}
		if len(kept) > 0 {
			left[at[0]] = kept
		}
		void = void || len(entries) > 0 && len(kept) == 0
	}
	conditions, _ := rule["when"].([]any)
	var kept []any
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		if key := fmt.Sprint(fields["key"]); slices.Contains(tunnelConditions, key) {
			kept = append(kept, c)
		} else {
			names, void = append(names, key), true
		}
	}
	if len(kept) > 0 {
		left["when"] = kept
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		ignored = append(ignored, name)
	}
	return left, ignored, void
}
