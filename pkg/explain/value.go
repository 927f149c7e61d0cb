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

// SetInRoute is why a setting is in force that the route itself has.
const SetInRoute = "set in the route"

// Level is how a level is written; "listener of the Gateway" means one of a ListenerSet.
func Level(level string) string {
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

// Seen tells targets apart at which different things are said of the same rules: for each layer, whether it stands at the target or at another
// place of the same object. Targets of one verdict that see alike share their words.
func (p LayerTargets) Seen(target model.Ref) string {
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

// Values says why the rules of a verdict are in force at targets.
type Values struct {
	Places  LayerTargets
	Verdict *resolve.Verdict
	Roles   []resolve.Role // of the layers
}

// Rule says in one line why a rule is in force at a target, and whom it beat.
func (e *Values) Rule(target model.Ref, r *merge.Rule) string {
	if len(r.From) == 0 {
		return "-"
	}
	return e.ground(target, r) + e.beaten(r)
}

// builtin names a value that no policy wrote; "" for any other.
func (e *Values) builtin(f merge.From) string {
	p := e.Verdict.Layers[f.Layer].Policy
	if p.Builtin == "" && f.Filled {
		return "API default of " + p.Ref().String()
	}
	return p.Builtin
}

// ground is by what right the value stands.
func (e *Values) ground(target model.Ref, r *merge.Rule) string {
	s := r.From[0]
	l := &e.Verdict.Layers[s.Layer]
	if l.Level == topology.Workload && e.builtin(s) == "" { // policies of pods attach by selecting them
		if len(r.From) > 1 {
			return "select it"
		}
		return "selects it"
	}
	if len(r.From) > 1 {
		var levels []string
		for _, f := range r.From {
			if word := e.place(target, f); !slices.Contains(levels, word) {
				levels = append(levels, word)
			}
		}
		return "merged from " + strings.Join(levels, ", ")
	}
	override := overrides(s, r)
	at := e.Places[s.Layer]
	here := at == target || at == target.WithoutSection()
	switch {
	case e.builtin(s) != "":
		return e.builtin(s)
	case here && !(override && slices.ContainsFunc(r.Lost, func(l merge.Loss) bool { return byReason[l.Reason].override })):
		return "set here (" + Level(string(l.Level)) + ")"
	}
	condition := ""
	if l.Policy.ConditionOf(s.Block) != "" {
		condition = ", condition true"
	}
	switch {
	case override:
		return "override of " + e.place(target, s) + condition
	case e.Verdict.Result.Ordered: // nothing gives way in a list
		return "of " + e.place(target, s) + condition
	case e.anyBelow(s):
		return "default of " + e.place(target, s) + ", not replaced" + condition
	}
	return "default of " + e.place(target, s) + condition
}

// place names the level of a source; "parent route" is a route that delegates to the target's.
func (e *Values) place(target model.Ref, f merge.From) string {
	if b := e.builtin(f); b != "" {
		return b
	}
	level := e.Verdict.Layers[f.Layer].Level
	if (level == topology.Route || level == topology.Rule) && strings.HasSuffix(target.Kind, "Route") && e.Places[f.Layer].WithoutSection() != target.WithoutSection() {
		return "parent " + string(level)
	}
	return Level(string(level))
}

// anyBelow reports whether a policy that takes part stands on a more specific place than a source.
func (e *Values) anyBelow(s merge.From) bool {
	layers, at := e.Verdict.Layers, -1
	place := func(i int) (model.Ref, topology.Role) { return e.Places[i], layers[i].Level }
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

// beaten says whom a value beat. In a chain of three the last winner beats only those of its own direction: an override does not replace the
// default that somebody below it had replaced already.
func (e *Values) beaten(r *merge.Rule) string {
	winner := r.From[len(r.From)-1]
	losers := map[string][]string{}
	for i := range r.Lost {
		l := &r.Lost[i]
		w := byReason[l.Reason]
		if override := overrides(winner, r); w.override && !override || w.beats == replaces && override {
			continue
		}
		losers[w.beats] = append(losers[w.beats], e.loser(winner, l))
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

// overrides reports whether a source of a rule stands against what is below it: its block says so, or its policy was merged so.
func overrides(from merge.From, r *merge.Rule) bool {
	return from.Block == merge.Overrides || slices.ContainsFunc(r.Lost, func(l merge.Loss) bool {
		return byReason[l.Reason].override && slices.ContainsFunc(l.To, func(w merge.Winner) bool { return w.From == from })
	})
}

// loser is the policy that lost; a policy may also beat a block of its own.
func (e *Values) loser(winner merge.From, l *merge.Loss) string {
	p, w := e.Verdict.Layers[l.From.Layer].Policy, e.Verdict.Layers[winner.Layer].Policy
	switch {
	case p.Builtin != "":
		return p.Builtin
	case e.builtin(winner) == "" && p.Ref() == w.Ref() && e.Places[l.From.Layer] == e.Places[winner.Layer]:
		return "its own " + l.From.Block.String()
	}
	return p.Ref().FullName()
}
