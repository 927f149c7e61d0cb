package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// answers are what stacks make.
type answers struct {
	made    map[*resolve.Kind]map[resolve.StackID]*answer
	passing map[*resolve.Kind][]stackFacts // by stack, of those whose answers are made when they are needed, and not kept
}

// stackFacts are what a list has to know of a stack before the items that it makes.
type stackFacts struct {
	problems    []model.Problem
	rules, lost int // how many are in force, and are not
	last        int // the last item of the list that it makes
	refers      bool
	told        bool // the problems are among those found
	known       bool // false of a stack that is in force nowhere
}

// answer is what the effective policies of one stack have in common.
type answer struct {
	stackFacts
	policy EffectivePolicy

	places explain.LayerTargets
	values func() *explain.Values
	said   map[string][]Rule // the rules with why they are in force, by what targets see of the stack
}

// at is the answer at a target: why rules are in force depends on where their policies stand from there.
func (a *answer) at(target model.Ref) EffectivePolicy {
	out := a.policy
	seen := a.places.Seen(target)
	rules, ok := a.said[seen]
	if !ok {
		rules = slices.Clone(out.Rules)
		values := a.values()
		for i := range rules {
			rules[i].Why = values.Rule(target, &values.Verdict.Result.Rules[i])
		}
		if a.said == nil {
			a.said = map[string][]Rule{}
		}
		a.said[seen] = rules
	}
	out.Target, out.Rules = target, rules
	return out
}

// of is what a stack makes.
func (a *answers) of(r *resolve.Resolution, k *resolve.Kind, s resolve.StackID) *answer {
	known := a.made[k][s]
	if known == nil {
		known = newAnswer(r, k, k.Verdict(s))
		a.keep(k, s, known)
	}
	return known
}

func (a *answers) keep(k *resolve.Kind, s resolve.StackID, made *answer) {
	if a.made == nil {
		a.made = map[*resolve.Kind]map[resolve.StackID]*answer{}
	}
	if a.made[k] == nil {
		a.made[k] = map[resolve.StackID]*answer{}
	}
	a.made[k][s] = made
}

// all makes what the stacks in force of kinds make.
func (a *answers) all(r *resolve.Resolution, kinds []*resolve.Kind) {
	for _, k := range kinds {
		targets := map[resolve.StackID][]topology.NodeID{}
		k.EachContext(func(id topology.NodeID, s resolve.StackID) { targets[s] = append(targets[s], id) })
		a.each(r, k, k.Stacks(), targets)
	}
}

// each makes what stacks make, as many at a time as there are processors, for the targets at which that is expected. What the folds tell beyond it is
// not kept.
func (a *answers) each(r *resolve.Resolution, k *resolve.Kind, stacks []resolve.StackID, targets map[resolve.StackID][]topology.NodeID) {
	made := make([]*answer, len(stacks))
	k.Verdicts(stacks, func(i int, o *resolve.Verdict) {
		made[i] = newAnswer(r, k, o)
		for _, id := range targets[stacks[i]] {
			made[i].at(r.Node(id).Ref)
		}
		made[i].values = func() *explain.Values { return valuesOf(r, k.Verdict(stacks[i])) } // others than these are not expected
	})
	for i, s := range stacks {
		a.keep(k, s, made[i])
	}
}

// pass folds all stacks in force of kinds for what is to be known of them beforehand. They are folded again when their items are made: folding takes
// less time than collecting what is kept. What has conditions is kept, as these are evaluated once.
func (a *answers) pass(r *resolve.Resolution, kinds []*resolve.Kind) {
	a.passing = map[*resolve.Kind][]stackFacts{}
	for _, k := range kinds {
		if resolve.Conditional(k) {
			a.all(r, []*resolve.Kind{k})
			continue
		}
		stacks := k.Stacks()
		last := resolve.StackID(0)
		for _, s := range stacks {
			last = max(last, s)
		}
		facts := make([]stackFacts, last+1)
		k.Verdicts(stacks, func(i int, o *resolve.Verdict) { facts[stacks[i]] = factsOf(k, o) })
		a.passing[k] = facts
	}
}

// passed is what is known beforehand of a stack; nil if that is no more than of any other.
func (a *answers) passed(k *resolve.Kind, s resolve.StackID) *stackFacts {
	if facts := a.passing[k]; int(s) < len(facts) && facts[s].known {
		return &facts[s]
	}
	return nil
}

func factsOf(k *resolve.Kind, o *resolve.Verdict) stackFacts {
	return stackFacts{known: true, rules: len(o.Result.Rules), lost: len(o.Result.Lost), problems: o.Problems,
		refers: k.Scope == nil && slices.ContainsFunc(o.Result.Rules, func(r merge.Rule) bool { return refersBarely(r.Value) })}
}

func newAnswer(r *resolve.Resolution, k *resolve.Kind, o *resolve.Verdict) *answer {
	w, values := writer{r, o}, valuesOf(r, o)
	out := EffectivePolicy{PolicyKind: k.Name(), summaries: k.Summaries, Ordered: o.Result.Ordered, Profile: k.Profile,
		Rules: make([]Rule, 0, len(o.Result.Rules)), Policies: w.uses(values.Roles), Lost: make([]RuleLoss, 0, len(o.Result.Lost))}
	for _, rule := range o.Result.Rules {
		out.Rules = append(out.Rules, w.rule(rule))
	}
	for i := range o.Result.Lost {
		loss := &o.Result.Lost[i]
		out.Lost = append(out.Lost, RuleLoss{Rule: loss.Rule, Loss: w.loss(loss)})
	}
	for _, g := range o.Result.Groups {
		group := Group{Name: g.Name, Rules: []Rule{}}
		for _, rule := range g.Rules {
			group.Rules = append(group.Rules, w.rule(rule))
		}
		out.Groups = append(out.Groups, group)
	}
	if doc := o.Result.Doc(); doc != nil {
		out.Spec = model.Pack(k.Nested(doc), nil) // answers to everything keep one for every stack
	}
	out.ID = contentHash(&out)
	return &answer{stackFacts: factsOf(k, o), policy: out, places: values.Places, values: func() *explain.Values { return values }}
}

func valuesOf(r *resolve.Resolution, v *resolve.Verdict) *explain.Values {
	return &explain.Values{Places: explain.LayerTargetsOf(r, v), Verdict: v, Roles: v.Roles()}
}
