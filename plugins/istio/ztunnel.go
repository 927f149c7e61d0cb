package istio

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// httpAttributes are the attributes that ztunnel does not see, which are those of HTTP, by where
// they stand in a rule.
var httpAttributes = map[string][]string{
	"source":    {"remoteIpBlocks", "notRemoteIpBlocks", "requestPrincipals", "notRequestPrincipals"},
	"operation": {"hosts", "notHosts", "methods", "notMethods", "paths", "notPaths"},
}

// ztunnelConditions are the conditions that ztunnel understands.
var ztunnelConditions = []string{"source.ip", "source.namespace", "source.principal", "destination.ip",
	"destination.port"}

// foldTunnelRules are the rules of AuthorizationPolicies as ztunnel enforces them: it knows ALLOW
// and DENY only, tries nothing, drops what is allowed by attributes of HTTP, and denies without
// looking at them.
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

// addTunnelRules adds the rules of one policy. An ALLOW policy whose rules are all dropped allows
// nothing.
func (m *foldRecorder) addTunnelRules(at int, p authzPolicy) {
	items := p.object.Body.At("spec", "rules")
	kept := 0
	n := 0
	for _, rule := range items.Items {
		path := p.rulePath(p.action, n)
		n++
		fields, _ := rule.Value().(map[string]any)
		if fields == nil {
			fields = map[string]any{}
		}
		ignored := stripHTTPAttributes(fields)
		if len(ignored) > 0 && p.action == "ALLOW" {
			m.Lose(path, rule.Value(), at, merge.Ignored)
			continue
		}
		if len(ignored) > 0 {
			fields["ignored"] = ignored
		}
		kept++
		m.Take(path, fields, at)
	}
	switch {
	case items.Len() == 0:
		m.Take(p.rulePath(p.action, 0), "matches no request: the policy has no rules", at)
	case kept == 0:
		m.Take(p.rulePath(p.action, n),
			"matches nothing: ztunnel drops all rules of the policy, which ask for attributes of HTTP", at)
	}
}

// stripHTTPAttributes takes out of a rule what ztunnel does not see, and names it, sorted.
func stripHTTPAttributes(rule map[string]any) []any {
	found := map[string]bool{}
	for _, at := range [][2]string{{"from", "source"}, {"to", "operation"}} {
		entries, _ := rule[at[0]].([]any)
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			fields, _ := entry[at[1]].(map[string]any)
			for _, name := range httpAttributes[at[1]] {
				if list, _ := fields[name].([]any); len(list) > 0 {
					found[name] = true
				}
				delete(fields, name)
			}
		}
	}
	if conditions, ok := rule["when"].([]any); ok {
		conditions = slices.DeleteFunc(conditions, func(c any) bool {
			fields, _ := c.(map[string]any)
			key, _ := fields["key"].(string)
			if slices.Contains(ztunnelConditions, key) {
				return false
			}
			found[key] = true
			return true
		})
		rule["when"] = conditions
		if len(conditions) == 0 {
			delete(rule, "when")
		}
	}
	var out []any
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, name)
	}
	return out
}
