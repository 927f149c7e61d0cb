package kuadrant

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var danglingPatternRef = model.Rule{ID: "DanglingPatternRef", Severities: []model.Severity{model.Warning},
	Summary: "a setting in force refers by name to a pattern that is not in force at the same place",
	Fix:     "declare the pattern in the same policy"}

// patternUse is a rule that refers to a pattern by name.
type patternUse struct {
	policy  *policy.Policy
	block   merge.BlockKind
	rule    string
	pattern string
}

// findDanglingPatterns reports settings of AuthPolicies that refer to a pattern that is not in force
// where they are: patterns are merged like settings, and an atomic set takes those of others away.
func findDanglingPatterns(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range listOperatorKinds(r, "AuthPolicy") {
		in := map[resolve.StackID][]patternUse{}
		targets := map[patternUse][]string{}
		var order []patternUse
		k.EachContext(func(id topology.NodeID, s resolve.StackID) {
			uses, ok := in[s]
			if !ok {
				uses = listDanglingUses(k.Verdict(s))
				in[s] = uses
			}
			for _, u := range uses {
				if targets[u] == nil {
					order = append(order, u)
				}
				if name := r.Node(id).Ref.String(); !slices.Contains(targets[u], name) {
					targets[u] = append(targets[u], name)
				}
			}
		})
		for _, u := range order {
			if len(k.Gaps().Of(u.policy)) == 0 {
				out = append(out, u.toProblem(k, targets[u]))
			}
		}
	}
	return out
}

// listDanglingUses are the uses of patterns in a stack's result that has no such pattern.
func listDanglingUses(o *resolve.Verdict) []patternUse {
	have := map[string]bool{}
	for _, rule := range o.Result.Rules {
		if name, ok := strings.CutPrefix(rule.Name, "patterns."); ok {
			have[name] = true
		}
	}
	var out []patternUse
	for _, rule := range o.Result.Rules {
		names := map[string]bool{}
		collectPatternNames(merge.Unpack(rule.Value), names)
		for name := range names {
			for _, from := range rule.From {
				u := patternUse{o.Layers[from.Layer].Policy, from.Block, rule.Name, name}
				if !have[name] && !slices.Contains(out, u) {
					out = append(out, u)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b patternUse) int {
		return strings.Compare(a.rule+"\x00"+a.pattern,
			b.rule+"\x00"+b.pattern)
	})
	return out
}

// collectPatternNames collects the texts of all fields called patternRef.
func collectPatternNames(v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if name, ok := inner.(string); ok && key == "patternRef" {
				names[name] = true
			}
			collectPatternNames(inner, names)
		}
	case []any:
		for _, inner := range v {
			collectPatternNames(inner, names)
		}
	}
}

func (u patternUse) toProblem(k *resolve.Kind, targets []string) model.Problem {
	why := "no policy in force there has it"
	for _, p := range k.Policies {
		if declaresPattern(p, u.pattern) {
			why = "that of " + p.Ref().String() + " is not in force there"
			break
		}
	}
	names := map[string]bool{}
	for _, t := range targets {
		names[t] = true
	}
	p := danglingPatternRef.NewProblem("%s of %s refers to the pattern %q, which does not exist at %s: %s", u.rule,
		u.policy.Ref(), u.pattern, limitNames(names), why)
	p.Hint = danglingPatternRef.Fix
	return p.At(u.policy.Object)
}

func declaresPattern(p *policy.Policy, pattern string) bool {
	return slices.ContainsFunc(p.Blocks, func(b merge.Block) bool {
		return slices.ContainsFunc(b.Units, func(u merge.Unit) bool { return u.Path.String() == "patterns."+pattern })
	})
}
