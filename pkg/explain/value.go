package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The words of why a setting is in force are few and always the same, because people learn them:
//
//	set here (rule)                   a policy on the target itself, or on the object that the target is a part of
//	default of Gateway                a default from a higher level; no policy below it
//	default of Gateway, not replaced  the same; there are policies below it, and none of them sets this
//	override of Gateway               an override; whatever stands below cannot change it
//	merged from Gateway, route        a value put together from several policies, weakest first
//	…, condition true                 the block has a condition, and it was met
//	API default                       (or another label) a value that no policy wrote
//
// followed, where somebody else wanted the same setting, by
//
//	, beats bakery/baker-all              it overrides that policy
//	, beats bakery/other (same level)     both stand on one level; the kind's order decides
//	, replaces infra/gw-auth              that policy's default gave way

// SetInRoute says why a setting is in force that the route itself has.
const SetInRoute = "set in the route"

// SetInListener says so of a setting that the listener itself has.
const SetInListener = "set in the listener"

// LevelName returns how a level is written; "listener of the Gateway" means one of a ListenerSet.
func LevelName(level string) string {
	switch level {
	case "gatewayClass", "gateway", "listenerSet", "namespace", "service":
		return strings.ToUpper(level[:1]) + level[1:]
	case "section":
		return "listener of the Gateway"
	case "gatewayPort":
		return "port of the Gateway"
	case "inlineRule", "inlineBackend", "inlinePort":
		return "set in the object itself"
	}
	return level
}

// LayerTargets are where the layers of a verdict stand.
type LayerTargets []model.Ref

// LayerTargetsOf lists them.
func LayerTargetsOf(r *resolve.Resolution, v *resolve.Verdict) LayerTargets {
	out := make(LayerTargets, len(v.Layers))
	for i := range v.Layers {
		out[i] = r.Node(v.Layers[i].Node).Ref
	}
	return out
}

// RelationKey tells targets apart at which different things are said of the same rules: for each
// layer, whether it stands at the target or at another place of the same object. Targets of one
// verdict with the same key share their words.
func (p LayerTargets) RelationKey(target model.Ref) string {
	seen := make([]byte, len(p))
	for i, at := range p {
		switch {
		case at == target || at == target.WithoutSection():
			seen[i] = 'h'
		case at.WithoutSection() == target.WithoutSection():
			seen[i] = 's'
		default:
			seen[i] = '-'
		}
	}
	return string(seen)
}

// RuleExplainer says why the rules of a verdict are in force at targets.
type RuleExplainer struct {
	Targets LayerTargets
	Verdict *resolve.Verdict
	Roles   []resolve.Role // of the layers
}

// ExplainRule says in one line why a rule is in force at a target, and whom it beat.
func (e *RuleExplainer) ExplainRule(target model.Ref, r *merge.Rule) string {
	if len(r.From) == 0 {
		return "-"
	}
	return e.describeSource(target, r) + e.describeBeaten(r)
}

// builtinName names a value that no policy wrote; "" for any other.
func (e *RuleExplainer) builtinName(f merge.Source) string {
	p := e.Verdict.Layers[f.Layer].Policy
	if p.Builtin == "" && f.Filled {
		return "API default of " + p.Ref().String()
	}
	return p.Builtin
}

// describeSource says where the value comes from and by what right it is in force.
func (e *RuleExplainer) describeSource(target model.Ref, r *merge.Rule) string {
	s := r.From[0]
	l := &e.Verdict.Layers[s.Layer]
	if l.Level == topology.Workload && e.builtinName(s) == "" { // policies of pods attach by selecting them
		if len(r.From) > 1 {
			return "select it"
		}
		return "selects it"
	}
	if len(r.From) > 1 {
		var levels []string
		for _, f := range r.From {
			if word := e.sourceLevel(target, f); !slices.Contains(levels, word) {
				levels = append(levels, word)
			}
		}
		return "merged from " + strings.Join(levels, ", ")
	}
	override := isOverride(s, r)
	at := e.Targets[s.Layer]
	here := at == target || at == target.WithoutSection()
	switch {
	case e.builtinName(s) != "":
		return e.builtinName(s)
	case here &&
		!(override && slices.ContainsFunc(r.Lost, func(l merge.Loss) bool { return byReason[l.Reason].override })):
		return "set here (" + LevelName(string(l.Level)) + ")"
	}
	condition := ""
	if l.Policy.ConditionOf(s.Block) != "" {
		condition = ", condition true"
	}
	switch {
	case override:
		return "override of " + e.sourceLevel(target, s) + condition
	case e.Verdict.Result.Ordered: // in a list nothing is replaced
		return "of " + e.sourceLevel(target, s) + condition
	case e.hasPolicyBelow(s):
		return "default of " + e.sourceLevel(target, s) + ", not replaced" + condition
	}
	return "default of " + e.sourceLevel(target, s) + condition
}

// sourceLevel names the level of a source; "parent route" is a route that delegates to the
// target's.
func (e *RuleExplainer) sourceLevel(target model.Ref, f merge.Source) string {
	if b := e.builtinName(f); b != "" {
		return b
	}
	level := e.Verdict.Layers[f.Layer].Level
	if (level == topology.Route || level == topology.Rule) && strings.HasSuffix(target.Kind, "Route") &&
		e.Targets[f.Layer].WithoutSection() != target.WithoutSection() {
		return "parent " + string(level)
	}
	return LevelName(string(level))
}

// hasPolicyBelow reports whether a policy that takes part stands on a more specific place than a
// source.
func (e *RuleExplainer) hasPolicyBelow(s merge.Source) bool {
	layers, at := e.Verdict.Layers, -1
	place := func(i int) (model.Ref, topology.Role) { return e.Targets[i], layers[i].Level }
	ref, level := place(s.Layer)
	for i := range layers {
		r, l := place(i)
		switch {
		case r == ref && l == level:
			at = i
		case at >= 0 && layers[i].Policy.Builtin == "" && e.Roles[i] != resolve.RoleIgnored:
			return true
		}
	}
	return false
}

// describeBeaten says whom a value beat. In a chain of three the last winner beats only those of
// its own direction: an override does not replace the default that somebody below it had replaced
// already.
func (e *RuleExplainer) describeBeaten(r *merge.Rule) string {
	winner := r.From[len(r.From)-1]
	losers := map[string][]string{}
	for i := range r.Lost {
		l := &r.Lost[i]
		w := byReason[l.Reason]
		if override := isOverride(winner, r); w.override && !override || w.beats == replaces && override {
			continue
		}
		losers[w.beats] = append(losers[w.beats], e.loserName(winner, l))
	}
	out := ""
	for _, format := range []string{beats, sameLevel, replaces} {
		names := slices.Compact(slices.Sorted(slices.Values(losers[format])))
		switch {
		case len(names) > 2:
			out += fmt.Sprintf(format, fmt.Sprintf("%s and %d more", names[0], len(names)-1))
		case len(names) > 0:
			out += fmt.Sprintf(format, strings.Join(names, ", "))
		}
	}
	return out
}

// isOverride reports whether a source of a rule stands against what is below it: its block says so,
// or its policy was merged so.
func isOverride(from merge.Source, r *merge.Rule) bool {
	return from.Block == merge.Overrides || slices.ContainsFunc(r.Lost, func(l merge.Loss) bool {
		return byReason[l.Reason].override &&
			slices.ContainsFunc(l.To, func(w merge.Winner) bool { return w.Source == from })
	})
}

// loserName names the policy that lost; a policy may also beat a block of its own.
func (e *RuleExplainer) loserName(winner merge.Source, l *merge.Loss) string {
	p, w := e.Verdict.Layers[l.From.Layer].Policy, e.Verdict.Layers[winner.Layer].Policy
	switch {
	case p.Builtin != "":
		return p.Builtin
	case e.builtinName(winner) == "" && p.Ref() == w.Ref() && e.Targets[l.From.Layer] == e.Targets[winner.Layer]:
		return "its own " + l.From.Block.String()
	}
	return p.Ref().FullName()
}
