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
	Policy   *policy.Policy
	Node     topology.NodeID
	Level    topology.Role
	Rejected bool // kept out by another policy on the same target: it took no part in the fold
	// of a rejected one: that other policy, which may have it rejected because of another target
	By             *policy.Policy
	Fault          string // why it is in error on these ways alone; "": it is not
	orderUncertain bool   // ordered without creation times among others at its place
	ageIgnored     bool   // the age did not count when it was ordered

	kind     *Kind
	attached policy.Attached
	run      int            // of a situation: which of the sets that it tells apart the layer was ordered in
	decision merge.Decision // of a rejected one: what put the other policy before it
}

// Verdict is the final answer for one stack: what is in force with its sources, and what is not,
// with the reason. Positions in the result index Layers. Nothing changes it once it is made.
type Verdict struct {
	Layers   []Layer // least specific first; rejected ones last
	Result   merge.Result
	Problems []model.Problem
	Void     string // why nothing is in force, whatever the policies say; "": nothing says so

	stack        merge.Stack
	findProblems func() []model.Problem // what is to be said of the fold
}

// WrittenBy returns a test of whether a source is the policy, or a part of it.
func (o *Verdict) WrittenBy(p *policy.Policy) func(merge.Source) bool {
	return func(f merge.Source) bool { return o.Layers[f.Layer].Policy.Base() == p }
}

// EachRenamed calls see for everything that is in force under another name than its policy gives
// it: entries of lists that are put together are numbered over all policies.
func (o *Verdict) EachRenamed(see func(from merge.Source, path merge.Path)) {
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
		k.verdicts[s] = k.foldStack(s)
	}
	return k.verdicts[s]
}

func (k *Kind) foldStack(s StackID) *Verdict {
	o, plans := k.layOutStack(s)
	o.Result = merge.Fold(plans, k.Rules, o.stack)
	o.Problems = o.findProblems()
	return o
}

// FoldStepwise folds the stack again; its steps say what is in force after them.
func (k *Kind) FoldStepwise(s StackID) *Verdict {
	o, plans := k.layOutStack(s)
	o.Result = merge.FoldStepwise(plans, k.Rules, o.stack)
	return o
}

// layOutStack lays the policies of a stack out for the fold.
func (k *Kind) layOutStack(s StackID) (*Verdict, []merge.Plan) {
	o, plans := k.engine.layOut(s)
	o.stack.Decide = (&lossDecider{Verdict: o}).decideLoss
	return o, plans
}

// stackLayout makes a stack of nodes and facts a stack of layers.
type stackLayout struct {
	*pathEngine
	stack StackID
}

func (k *pathEngine) layOut(s StackID) (*Verdict, []merge.Plan) {
	o := stackLayout{k, s}.buildLayers()
	o.findProblems = func() []model.Problem {
		return slices.Concat(o.conditionProblems(), o.uncertainOrders(), o.openProblems(),
			stackVariants{k, s}.findProblems(o), k.Guesses().stackProblems(o))
	}
	return o, k.plansOf(s)
}

// plansOf returns the plans of the kind that are for the paths of a stack.
func (k *pathEngine) plansOf(s StackID) []merge.Plan {
	return k.PlansFor(func(name string) string { return k.factOf(s, name) })
}

// buildLayers lays the policies out as layers.
func (k stackLayout) buildLayers() *Verdict {
	o := &Verdict{}
	o.stack.Fact = k.factValue
	nodes := k.nodesOf(k.stack)
	o.Layers = make([]Layer, 0, len(nodes))
	k.visitNodes(o, func(id topology.NodeID) {
		at := k.Table[id]
		for _, a := range at.Policies {
			l := Layer{Policy: a.Policy, Node: id, Level: k.res.levelOf(a), orderUncertain: at.AgeIgnored,
				ageIgnored: at.AgeIgnored, kind: k.Kind, attached: a}
			o.Layers = slices.Insert(o.Layers, k.insertPosition(o.Layers, a), l)
		}
	})
	if k.Direct || !k.IsByLevel() {
		k.orderAcrossLevels(o)
	}
	k.dropHidden(o)
	o.stack.Layers = make([]merge.Layer, 0, len(o.Layers))
	for i, l := range o.Layers {
		if l.Policy.Builtin != "" {
			o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: -2 - int(l.Node),
				Unwritten: true,
				Blocks:    k.BlocksOnPath(l.Policy, l.Policy.Blocks, k.factValue)})
			continue
		}
		var blocks []merge.Block
		blocks, o.Layers[i].Fault = k.blocksOf(l.attached)
		if o.Layers[i].Fault == "" {
			blocks = k.withEntry(l.Policy, blocks)
		}
		blocks = k.BlocksOnPath(l.Policy, blocks, k.factValue)
		o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: slices.Index(nodes, l.Node),
			Blocks: blocks, Unset: l.Policy.Unset, DemandedStrategy: l.Policy.DemandedStrategy,
			Render: l.Policy.RenderDocument})
	}
	k.numberHops(o)
	k.addBuiltins(o)
	for _, id := range nodes {
		for _, r := range k.RejectedAt[id] {
			l := Layer{Policy: r.Attached.Policy, Node: id, Level: k.res.levelOf(r.Attached), Rejected: true,
				orderUncertain: k.Table[id].AgeIgnored, kind: k.Kind, attached: r.Attached, By: r.By,
				decision: r.Decision}
			o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: -1,
				Blocks: l.blocksAtPlace(), Rejected: o.newRejection(k.Kind, l)})
			o.Layers = append(o.Layers, l)
		}
	}
	o.applyVoid(k.Kind, nodes)
	return o
}

// newRejection says to whom a policy that takes no part loses its settings: without anybody it lost
// another target, and with it this one.
func (o *Verdict) newRejection(k *Kind, l Layer) *merge.Rejection {
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

// numberHops numbers the routes along the path that policies stand at, and reads the strategy that
// each of them states: a route that delegates is above the one that it delegates to.
func (k stackLayout) numberHops(o *Verdict) {
	if !slices.ContainsFunc(k.Plans, foldsEachRole) {
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

// foldsEachRole reports whether a plan folds every occurrence of a role by itself.
func foldsEachRole(p merge.Plan) bool {
	return p.EachRole != "" || slices.ContainsFunc(p.Members, foldsEachRole)
}

// orderAcrossLevels orders all layers by the comparator without the levels: a direct kind has one
// level only (gep713 P19), and in some comparators the level does not count.
func (k stackLayout) orderAcrossLevels(o *Verdict) {
	all := make([]policy.Attached, len(o.Layers))
	for i, l := range o.Layers {
		all[i] = l.attached
	}
	ordered, ageIgnored := k.Order(all)
	for i, a := range ordered {
		o.Layers[i] = Layer{Policy: a.Policy, Node: a.Node, Level: k.res.levelOf(a), orderUncertain: ageIgnored,
			ageIgnored: ageIgnored, kind: k.Kind, attached: a}
	}
}

// blocksAtPlace returns the blocks of the policy at its place.
func (l Layer) blocksAtPlace() []merge.Block {
	if l.attached.Policy == nil { // a setting that no policy wrote
		return l.Policy.Blocks
	}
	return l.attached.BlocksAtTarget()
}

// MainBlock returns the policy's block that is merged last, whose strategy people think of as the
// policy's.
func (l Layer) MainBlock() merge.BlockKind {
	if n := len(l.Policy.Blocks); n > 0 {
		return l.Policy.Blocks[n-1].Kind
	}
	return merge.Bare
}

// IsOrderedByName reports whether the order of two layers at one place was decided without creation
// times, by which it should have been.
func (l Layer) IsOrderedByName(w Layer) bool {
	return l.orderUncertain && (l.attached.Policy == nil || w.attached.Policy == nil ||
		l.Policy.Kind.NeedsAge(l.attached, w.attached))
}

// StrategyOf returns the strategy with which a block was merged: its own, unless the kind's plan
// prescribes one.
func (o *Verdict) StrategyOf(from merge.Source) string {
	return o.strategyInTrace(o.Result.Trace, from)
}

func (o *Verdict) strategyInTrace(trace []merge.Step, from merge.Source) string {
	for _, st := range trace {
		if st.Layer == from.Layer && st.Block == from.Block && !st.Closing {
			return st.Strategy.Name()
		}
	}
	return o.Layers[from.Layer].Policy.StrategyName(from.Block)
}

// Losses lists every loss of the verdict: those beside rules in force, and the others.
func (o *Verdict) Losses() []merge.Loss {
	var out []merge.Loss
	for loss := range o.eachLoss {
		out = append(out, *loss)
	}
	return out
}

// eachLoss iterates over the losses, which are large.
func (o *Verdict) eachLoss(yield func(*merge.Loss) bool) {
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

// levelOf returns the level at which a policy stands.
func (r *Resolution) levelOf(a policy.Attached) topology.Role {
	if a.Level != "" {
		return a.Level
	}
	return r.Node(a.Node).Role
}
