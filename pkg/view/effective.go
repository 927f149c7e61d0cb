package view

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Effective lists the effective policies of the targets asked for: of a whole route those of its rules, of a Gateway those of its
// listeners, of a Service those of its ports and of the rules that send to it; of what traffic passes through those of the rules below.
func Effective(r *resolve.Resolution, q Query) *EffectivePolicyList {
	list := &EffectivePolicyList{Items: []EffectivePolicy{}}
	a := collector{res: r, query: q}
	if q.Targets == nil {
		list.Items = make([]EffectivePolicy, 0, a.answerAll())
	}
	covered := make([]bool, r.Len())
	var open unknownWays
	ways := map[topology.NodeID][]Path{} // that are covered, of what was asked for by name
	a.each(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) {
		item := a.item(k, id, s, paths)
		if len(item.Rules) > 0 || q.ShowNone {
			list.Items = append(list.Items, item)
			covered[id] = true
			if q.Targets != nil {
				ways[id] = append(ways[id], item.Paths...)
			}
		} else {
			list.unlisted += len(item.Lost)
		}
	})
	nodes := a.nodes()
	list.Routes = a.routeSettings(nodes)
	for _, id := range nodes {
		n := r.Node(id)
		switch {
		case (n.Role == topology.Gateway || n.Role == topology.ListenerSet) && q.Targets != nil && q.Through == nil:
			list.gateways = append(list.gateways, n.Ref)
		case n.Role == topology.Rule && !n.Transit && (a.atRules[n.Ref.GroupKind()] || len(a.atRules) == 0) && !a.reached(id):
			if !q.compared {
				open.add(a, id)
			}
		case n.Role == topology.Rule && (n.Transit || !a.atRules[n.Ref.GroupKind()]):
		case n.Role == topology.Rule && !covered[id] && a.reached(id):
			list.bare = append(list.bare, n.Ref)
		case n.Role == topology.Rule && q.Targets != nil && q.Through == nil && covered[id]:
			if bare := a.uncovered(id, ways[id]); len(bare) > 0 {
				list.bareWays = append(list.bareWays, " is in force on "+targetName(n.Ref)+" via "+viaText(bare, n.Ref.WithoutSection(), TableOptions{}))
			}
		case n.Role == topology.Route && q.Targets != nil && !a.reached(id) && len(r.Graph.Instances(id)) == 0:
			list.unattached = append(list.unattached, r.Graph.Unattached(id))
		}
	}
	list.Seal("EffectivePolicyList", append(a.problems(), open.problems()...))
	list.touches, list.open = a.touching(), len(open) > 0
	return list
}

// answer is what the effective policies of one stack have in common.
type answer struct {
	policy   EffectivePolicy
	problems []model.Problem
	told     bool // the problems are among those found

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

// item is the effective policy at one target.
func (a *collector) item(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) EffectivePolicy {
	out := a.common(k, id, s).at(a.res.Node(id).Ref)
	out.Paths = paths
	out.Unread = a.res.Unread(k.Gaps().At(id))
	if out.refers {
		a.found = append(a.found, foreignReferences(&out)...)
	}
	return out
}

// common is what a stack makes at all targets; problems of it are noted for this one.
func (a *collector) common(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *answer {
	if a.answers == nil {
		a.answers = map[*resolve.Kind]map[resolve.StackID]*answer{}
	}
	if a.answers[k] == nil {
		a.answers[k] = map[resolve.StackID]*answer{}
	}
	common := a.answers[k][s]
	if common == nil {
		common = newAnswer(a.res, k, k.Verdict(s))
		a.answers[k][s] = common
	}
	if !common.told {
		common.told = true
		a.found = append(a.found, common.problems...)
	}
	a.found = append(a.found, k.Guesses().Below(id, s)...)
	return common
}

// answerAll makes the answers of all stacks in force, as many at a time as there are processors, and returns how many items they make. What
// the folds tell beyond the answers is not kept.
func (a *collector) answerAll() (items int) {
	a.answers = map[*resolve.Kind]map[resolve.StackID]*answer{}
	for _, k := range a.chosen() {
		targets := map[resolve.StackID][]topology.NodeID{}
		k.EachContext(func(id topology.NodeID, s resolve.StackID) {
			targets[s] = append(targets[s], id)
			items++
		})
		stacks := k.Stacks()
		answers := make([]*answer, len(stacks))
		k.Verdicts(stacks, func(i int, o *resolve.Verdict) {
			answers[i] = newAnswer(a.res, k, o)
			for _, id := range targets[stacks[i]] {
				answers[i].at(a.res.Node(id).Ref)
			}
			answers[i].values = func() *explain.Values { return valuesOf(a.res, k.Verdict(stacks[i])) } // others than these are not expected
		})
		a.answers[k] = make(map[resolve.StackID]*answer, len(stacks))
		for i, s := range stacks {
			a.answers[k][s] = answers[i]
		}
	}
	return items
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
	if o.Result.Doc != nil {
		out.Spec = model.Pack(k.Nested(o.Result.Doc), nil) // answers to everything keep one for every stack
	}
	out.ID = contentHash(&out)
	out.refers = k.Scope == nil && slices.ContainsFunc(out.Rules, func(r Rule) bool { return refersBarely(r.Value) })
	return &answer{policy: out, problems: o.Problems, places: values.Places, values: func() *explain.Values { return values }}
}

func valuesOf(r *resolve.Resolution, v *resolve.Verdict) *explain.Values {
	return &explain.Values{Places: explain.LayerTargetsOf(r, v), Verdict: v, Roles: v.Roles()}
}

// contentHash is short, and changes with the kind, the spec or a source, but not with where a source was read.
func contentHash(e *EffectivePolicy) string {
	b := make(digest, 0, 1<<9)
	b.text(e.PolicyKind)
	b = model.AppendJSON(b, e.Spec)
	for _, r := range e.Rules {
		for _, s := range r.Sources {
			b.text(r.Name)
			if s.Policy != nil {
				b.ref(*s.Policy)
			}
			b.ref(*s.Target)
			b.text(s.Level, s.Block, s.Strategy, s.Builtin)
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// digest is text in which no two things are written alike.
type digest []byte

func (d *digest) text(texts ...string) {
	for _, s := range texts {
		*d = append(strconv.AppendInt(*d, int64(len(s)), 10), ':')
		*d = append(*d, s...)
	}
}

func (d *digest) ref(r model.Ref) { d.text(r.Group, r.Kind, r.Namespace, r.Name, r.Section) }
