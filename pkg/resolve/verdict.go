package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Layer is a policy at its place in a stack.
type Layer struct {
	Policy    *policy.Policy
	Node      topology.NodeID
	Level     topology.Role
	Rejected  bool           // kept out by another policy on the same target: it took no part in the fold
	By        *policy.Policy // of a rejected one: that other policy, which may have it rejected because of another target
	Fault     string         // why it is in error on these ways alone; "": it is not
	uncertain bool           // ordered without creation times among others at its place
	timeless  bool           // the age did not count when it was ordered

	kind     *Kind
	attached policy.Attached
	run      int            // of a situation: which of the sets that it tells apart the layer was ordered in
	decision merge.Decision // of a rejected one: what put the other policy before it
}

// Verdict is the final answer for one stack: what is in force with its sources, and what is not, with the reason. Positions in the result index
// Layers. Nothing changes it once it is made.
type Verdict struct {
	Layers   []Layer // least specific first; rejected ones last
	Result   merge.Result
	Problems []model.Problem
	Void     string // why nothing is in force, whatever the policies say; "": nothing says so

	stack merge.Stack
	check func() []model.Problem // what is to be said of the fold
}

// WrittenBy tells whether a source is the policy, or a part of it.
func (o *Verdict) WrittenBy(p *policy.Policy) func(merge.From) bool {
	return func(f merge.From) bool { return o.Layers[f.Layer].Policy.Base() == p }
}

// Renamed calls see for everything that is in force under another name than its policy gives it: entries of lists that are put together are
// numbered over all policies.
func (o *Verdict) Renamed(see func(from merge.From, path merge.Path)) {
	if o.Void != "" {
		return
	}
	for _, step := range o.Result.Trace {
		for _, e := range step.Effects {
			if e.Action != merge.Renamed {
				continue
			}
			for _, from := range e.From {
				see(from, e.Path)
			}
		}
	}
}

// Verdict folds the stack, once.
func (k *Kind) Verdict(s StackID) *Verdict {
	if k.verdicts[s] == nil {
		k.verdicts[s] = k.fold(s)
	}
	return k.verdicts[s]
}

func (k *Kind) fold(s StackID) *Verdict {
	o, plans := k.build(s)
	o.Result = merge.Fold(plans, k.Rules, o.stack)
	o.Problems = o.check()
	return o
}

// Replay folds the stack again; its steps say what is in force after them.
func (k *Kind) Replay(s StackID) *Verdict {
	o, plans := k.build(s)
	o.Result = merge.Replay(plans, k.Rules, o.stack)
	return o
}

// build lays the policies of a stack out for the fold.
func (k *Kind) build(s StackID) (*Verdict, []merge.Plan) {
	o, plans := k.engine.lay(s)
	o.stack.Decide = (&decider{Verdict: o}).decide
	return o, plans
}

// layout makes a stack of nodes and facts a stack of layers.
type layout struct {
	*routed
	stack StackID
}

func (k *routed) lay(s StackID) (*Verdict, []merge.Plan) {
	o := layout{k, s}.lay()
	o.check = func() []model.Problem {
		return slices.Concat(o.conditions(), o.uncertain(), o.open(), variants{k, s}.problems(o), k.Guesses().guesses(o))
	}
	return o, k.plans(s)
}

// plans are those of the kind that are for the paths of a stack.
func (k *routed) plans(s StackID) []merge.Plan {
	return k.PlansFor(func(name string) string { return k.fact(s, name) })
}

// lay lays the policies out as layers.
func (k layout) lay() *Verdict {
	o := &Verdict{}
	nodes := k.nodes(k.stack)
	o.Layers = make([]Layer, 0, len(nodes))
	k.amid(o, func(id topology.NodeID) {
		at := k.attached[id]
		for _, a := range at.policies {
			l := Layer{Policy: a.Policy, Node: id, Level: k.res.level(a), uncertain: at.ageIgnored, timeless: at.ageIgnored, kind: k.Kind, attached: a}
			o.Layers = slices.Insert(o.Layers, k.position(o.Layers, a), l)
		}
	})
	if k.Direct || !k.Leveled() {
		k.across(o)
	}
	k.shown(o)
	o.stack.Layers = make([]merge.Layer, 0, len(o.Layers))
	for i, l := range o.Layers {
		if l.Policy.Builtin != "" {
			o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: -2 - int(l.Node), Unwritten: true,
				Blocks: k.Showing(l.Policy, l.Policy.Blocks, k.says)})
			continue
		}
		var blocks []merge.Block
		blocks, o.Layers[i].Fault = k.blocks(l.attached)
		if o.Layers[i].Fault == "" {
			blocks = k.withEntry(l.Policy, blocks)
		}
		blocks = k.Showing(l.Policy, blocks, k.says)
		o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: slices.Index(nodes, l.Node),
			Blocks: blocks, Unset: l.Policy.Unset, Asks: l.Policy.Asks, Render: l.Policy.Render})
	}
	k.hop(o)
	k.overrule(o)
	for _, id := range nodes {
		for _, r := range k.rejectedAt[id] {
			l := Layer{Policy: r.Attached.Policy, Node: id, Level: k.res.level(r.Attached), Rejected: true, uncertain: k.attached[id].ageIgnored, kind: k.Kind, attached: r.Attached, By: r.By, decision: r.Decision}
			o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: -1, Blocks: l.sets(), Rejected: o.rejection(k.Kind, l)})
			o.Layers = append(o.Layers, l)
		}
	}
	o.void(k.Kind, nodes)
	return o
}

// rejection is to whom a policy that takes no part loses its settings: without anybody it lost another target, and with it this one.
func (o *Verdict) rejection(k *Kind, l Layer) *merge.Rejection {
	shared := func(w Layer) bool { return !w.Rejected && w.Node == l.Node && w.Level == l.Level }
	if k.SameTarget == policy.Disjoint { // those that it does not clash with have done nothing to it
		shared = func(w Layer) bool { return w.Policy == l.By && w.Node == l.Node }
	}
	reason := merge.SameLevelOrder
	switch k.SameTarget {
	case policy.AllLose:
		return &merge.Rejection{Reason: merge.Conflicted, By: -1}
	case policy.Unstated:
		return &merge.Rejection{Reason: merge.NotEvaluated, By: -1}
	}
	if k.SameTarget == policy.Conflict || k.SameTarget == policy.Disjoint {
		reason = merge.Conflicted
	}
	return &merge.Rejection{Reason: reason, By: slices.IndexFunc(o.Layers, shared)}
}

// hop numbers the routes along the path that policies stand at, and reads the strategy that each of them states: a route that delegates is
// above the one that it delegates to.
func (k layout) hop(o *Verdict) {
	if !slices.ContainsFunc(k.Plans, repeats) {
		return
	}
	var routes []model.Ref
	for i, l := range o.stack.Layers {
		n := k.res.Node(o.Layers[i].Node)
		if n.Role != topology.Route && n.Role != topology.Rule {
			continue
		}
		if whole := n.Ref.WithoutSection(); len(routes) == 0 || routes[len(routes)-1] != whole {
			routes = append(routes, whole)
			o.stack.Hops = append(o.stack.Hops, k.HopStrategy(n.Object))
		}
		l.Hop = len(routes) - 1
		o.stack.Layers[i] = l
	}
}

// repeats reports whether a plan folds every occurrence of a role by itself.
func repeats(p merge.Plan) bool { return p.Each != "" || slices.ContainsFunc(p.Of, repeats) }

// across orders all layers by the comparator without the levels: a direct kind has one level only (gep713 P19), and in some comparators the
// level does not count.
func (k layout) across(o *Verdict) {
	all := make([]policy.Attached, len(o.Layers))
	for i, l := range o.Layers {
		all[i] = l.attached
	}
	ordered, ageIgnored := k.Order(all)
	for i, a := range ordered {
		o.Layers[i] = Layer{Policy: a.Policy, Node: a.Node, Level: k.res.level(a), uncertain: ageIgnored, timeless: ageIgnored, kind: k.Kind, attached: a}
	}
}

// sets are the blocks of the policy at its place.
func (l Layer) sets() []merge.Block {
	if l.attached.Policy == nil { // a setting that no policy wrote
		return l.Policy.Blocks
	}
	return l.attached.Sets()
}

// MainBlock is the policy's block that is merged last, whose strategy people think of as the policy's.
func (l Layer) MainBlock() merge.BlockKind {
	if n := len(l.Policy.Blocks); n > 0 {
		return l.Policy.Blocks[n-1].Kind
	}
	return merge.Bare
}

// ByName reports whether the order of two layers at one place was settled without creation times, by which it should have been.
func (l Layer) ByName(w Layer) bool {
	return l.uncertain && (l.attached.Policy == nil || w.attached.Policy == nil || l.Policy.Kind.AgeDecides(l.attached, w.attached))
}

// Strategy is the strategy with which a block was merged: its own, unless the kind's plan prescribes one.
func (o *Verdict) Strategy(from merge.From) string { return o.strategy(o.Result.Trace, from) }

func (o *Verdict) strategy(trace []merge.Step, from merge.From) string {
	for _, st := range trace {
		if st.Layer == from.Layer && st.Block == from.Block && !st.Closing {
			return st.Strategy.Word()
		}
	}
	return o.Layers[from.Layer].Policy.Word(from.Block)
}

// Losses lists every loss of the verdict: those beside rules in force, and the others.
func (o *Verdict) Losses() []merge.Loss {
	var out []merge.Loss
	for loss := range o.losses {
		out = append(out, *loss)
	}
	return out
}

// losses is an iterator over the losses, which are large.
func (o *Verdict) losses(yield func(*merge.Loss) bool) {
	for i := range o.Result.Lost {
		if !yield(&o.Result.Lost[i]) {
			return
		}
	}
	for r := range o.Result.Rules {
		lost := o.Result.Rules[r].Lost
		for i := range lost {
			if !yield(&lost[i]) {
				return
			}
		}
	}
}
