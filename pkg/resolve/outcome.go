package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	Rejected  bool // kept out by another policy on the same target: it took no part in the fold
	uncertain bool // ordered without creation times among others at its place

	attached policy.Attached
}

// Outcome is the fold of one stack. The result's positions index Layers.
type Outcome struct {
	Layers   []Layer // least specific first; rejected ones last
	Result   merge.Result
	Problems []model.Problem
	Void     string // why nothing is in force, whatever the policies say; "": nothing says so

	stack merge.Stack
}

// Outcome folds the stack, once.
func (k *Kind) Outcome(s StackID) *Outcome {
	if k.outcomes[s] == nil {
		k.outcomes[s] = k.fold(s)
	}
	return k.outcomes[s]
}

func (k *Kind) fold(s StackID) *Outcome {
	o := k.build(s)
	o.spare(k)
	o.Result = merge.Fold(k.plans(s), k.Rules, o.stack)
	o.forget()
	o.poison(k, s)
	o.reject(k)
	if k.scoped != nil {
		o.Problems = o.undefined()
		return o
	}
	o.Problems = slices.Concat(o.conditions(), o.uncertain(), o.open(), k.sensitive(s, o), k.switches(s, o))
	return o
}

// Steps folds the stack again and calls observe after every step with what is in force then.
func (k *Kind) Steps(s StackID, observe func(step int, units []merge.Unit)) merge.Result {
	return merge.FoldSteps(k.plans(s), k.Rules, k.build(s).stack, observe)
}

// build lays the policies of a stack out as layers.
func (k *Kind) build(s StackID) *Outcome {
	if k.scoped != nil {
		return k.buildScoped(s)
	}
	o := &Outcome{}
	nodes := k.nodes(s)
	o.Layers = make([]Layer, 0, len(nodes))
	for _, id := range nodes {
		at := k.attached[id]
		for _, a := range at.policies {
			o.Layers = append(o.Layers, Layer{Policy: a.Policy, Node: id, Level: k.level(a), uncertain: at.ageIgnored, attached: a})
		}
	}
	if k.Direct || !k.Leveled() {
		k.across(o)
	}
	o.stack.Layers = make([]merge.Layer, 0, len(o.Layers))
	for _, l := range o.Layers {
		o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: slices.Index(nodes, l.Node),
			Blocks: k.blocks(s, l.Policy), Unset: l.Policy.Unset, Asks: l.Policy.Asks, Render: l.Policy.Render})
	}
	k.hop(o)
	k.overrule(s, o)
	for _, id := range nodes {
		for _, v := range k.rejectedAt[id] {
			o.Layers = append(o.Layers, Layer{Policy: v.Attached.Policy, Node: id, Level: k.level(v.Attached), Rejected: true, uncertain: k.attached[id].ageIgnored, attached: v.Attached})
		}
	}
	return o
}

// plans are those of the kind that are for the paths of a stack.
func (k *Kind) plans(s StackID) []merge.Plan {
	return k.PlansFor(func(name string) string { return k.fact(s, name) })
}

// hop numbers the routes along the path that policies stand at, and reads the strategy that each of them states: a route that delegates is
// above the one that it delegates to.
func (k *Kind) hop(o *Outcome) {
	if !slices.ContainsFunc(k.Plans, repeats) {
		return
	}
	var routes []model.Ref
	for i, l := range o.stack.Layers {
		n := k.res.Node(o.Layers[i].Node)
		if n.Role != topology.Route && n.Role != topology.Rule {
			continue
		}
		if whole := n.Ref.Whole(); len(routes) == 0 || routes[len(routes)-1] != whole {
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
func (k *Kind) across(o *Outcome) {
	all := make([]policy.Attached, len(o.Layers))
	for i, l := range o.Layers {
		all[i] = l.attached
	}
	ordered, ageIgnored := k.Order(all)
	for i, a := range ordered {
		o.Layers[i] = Layer{Policy: a.Policy, Node: a.Node, Level: k.level(a), uncertain: ageIgnored, attached: a}
	}
}

// reject accounts for the policies that did not take part: every rule of theirs is lost to the one that kept them out.
func (o *Outcome) reject(k *Kind) {
	for i, l := range o.Layers {
		if !l.Rejected {
			continue
		}
		winner := slices.IndexFunc(o.Layers, func(w Layer) bool { return !w.Rejected && w.Node == l.Node })
		reason := merge.Conflicted
		if k.SameTarget != policy.Conflict {
			reason = merge.SameLevelOrder
		}
		for _, b := range l.Policy.Blocks {
			for _, u := range merge.Recut(b.Units, k.Rules) {
				if u.Filled {
					continue
				}
				loss := merge.Loss{Rule: u.Path.String(), Path: u.Path, Value: u.Value, From: merge.From{Layer: i, Block: b.Kind}, Reason: reason, Step: -1}
				if winner >= 0 { // else it lost another target, and with it this one
					loss.To = []merge.From{{Layer: winner, Block: o.Layers[winner].MainBlock()}}
				}
				at := slices.IndexFunc(o.Result.Rules, func(r merge.Rule) bool { return r.Name == loss.Rule })
				if at >= 0 {
					o.Result.Rules[at].Lost = append(o.Result.Rules[at].Lost, loss)
				} else {
					o.Result.Lost = append(o.Result.Lost, loss)
				}
			}
		}
	}
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
func (o *Outcome) Strategy(from merge.From) string {
	for _, st := range o.Result.Trace {
		if st.Layer == from.Layer && st.Block == from.Block && !st.Closing {
			return st.Strategy.Word()
		}
	}
	return o.Layers[from.Layer].Policy.Word(from.Block)
}

// Losses lists every loss of the outcome: those beside rules in force, and the others.
func (o *Outcome) Losses() []merge.Loss {
	out := slices.Clone(o.Result.Lost)
	for _, r := range o.Result.Rules {
		out = append(out, r.Lost...)
	}
	return out
}

// conditions reports the conditions that could not be judged.
func (o *Outcome) conditions() []model.Problem {
	var out []model.Problem
	for _, st := range o.Result.Trace {
		when, isCEL := st.When.(*policy.Condition)
		if st.Err == nil || !isCEL || st.Layer < 0 || when.Err() != nil { // one that does not compile is the policy's own problem
			continue
		}
		p := o.Layers[st.Layer].Policy
		problem := model.Problem{Severity: model.Error, Code: model.InvalidCondition, Message: fmt.Sprintf("the condition %q of %s %s: the block does not apply", when.Text, st.Block, st.Err)}
		if errors.Is(st.Err, policy.ErrMissingField) {
			problem.Severity, problem.Code = model.Warning, model.ConditionMissingField
			problem.Message = fmt.Sprintf("the condition %q of %s reads a field that is not there (%s): not matched", when.Text, st.Block, strings.TrimPrefix(st.Err.Error(), policy.ErrMissingField.Error()+": "))
			problem.Hint = "guard it with has(…)"
		}
		problem = problem.At(p.Object)
		origin := p.OriginOf(st.Block, merge.Keys(p.Kind.Content.Condition))
		problem.Origin = &origin
		out = append(out, problem)
	}
	return out
}

// uncertain reports losses that only an order without creation times decided, where the values differ (engine E9).
func (o *Outcome) uncertain() []model.Problem {
	var out []model.Problem
	said := map[*policy.Policy]bool{}
	for _, loss := range o.Losses() {
		l := o.Layers[loss.From.Layer]
		if !l.uncertain || said[l.Policy] {
			continue
		}
		for _, to := range loss.To {
			w := o.Layers[to.Layer]
			if w.Node != l.Node || w.Policy == l.Policy || !l.ByName(w) || o.sets(to, loss.Path, loss.Value) {
				continue
			}
			said[l.Policy] = true
			out = append(out, model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
				Message: fmt.Sprintf("%s and %s target the same object and not all such policies have a creation time: they are ordered by name, another order would change the result", l.Policy.Ref(), w.Policy.Ref()),
				Hint:    "add metadata.creationTimestamp as the cluster has it"}.At(l.Policy.Object))
			break
		}
	}
	return out
}

// sets reports whether the block at from sets what stands at path to the same value.
func (o *Outcome) sets(from merge.From, path merge.Path, value any) bool {
	for _, b := range o.Layers[from.Layer].Policy.Blocks {
		if b.Kind != from.Block {
			continue
		}
		if slices.ContainsFunc(b.Units, func(u merge.Unit) bool { return slices.Equal(u.Path, path) && merge.Equal(u.Value, value) }) {
			return true
		}
		keys := make([]string, len(path))
		for i, seg := range path {
			keys[i] = seg.Name
		}
		if have := model.Get(merge.Plain(merge.Assemble(b.Units)), keys...); have != nil && merge.Equal(have, value) {
			return true
		}
	}
	return false
}

// sensitive reports that folding from the top would give another result (gep713 P27).
func (k *Kind) sensitive(s StackID, o *Outcome) []model.Problem {
	if !k.Checked || len(o.stack.Layers) < 3 {
		return nil
	}
	other, differs := merge.OrderSensitive(k.plans(s), k.Rules, o.stack)
	if !differs {
		return nil
	}
	var names []string
	for _, l := range o.Layers {
		names = append(names, l.Policy.Ref().FullName())
	}
	return []model.Problem{model.Problem{Severity: model.Info, Code: model.OrderSensitive, Message: fmt.Sprintf(
		"the order of folding %s (%s) is left open by GEP-713 and changes the result: from the bottom, as here, %s; from the top %s",
		k.GroupKind.Kind, strings.Join(names, ", "), differing(o.Result, other), differing(other, o.Result))}.At(o.Layers[0].Policy.Object)}
}

// differing names the rules of a result that another one does not have alike, with their values.
func differing(r, other merge.Result) string {
	const most = 4
	rules := slices.DeleteFunc(slices.Clone(r.Rules), func(x merge.Rule) bool {
		return slices.ContainsFunc(other.Rules, func(y merge.Rule) bool {
			return x.Name == y.Name && slices.Equal(x.From, y.From) && merge.Equal(x.Value, y.Value)
		})
	})
	var out []string
	for i, rule := range rules {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(rules)-most))
			break
		}
		value, err := json.Marshal(rule.Value)
		if err != nil {
			value = []byte("…")
		}
		out = append(out, rule.Name+"="+string(value))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, " ")
}

// switches reports that the other reading of several policies on one target would change the result (gep713 P32).
func (k *Kind) switches(s StackID, o *Outcome) []model.Problem {
	if !k.Generic() || k.Direct || k.SameTarget != policy.Stacked {
		return nil
	}
	first := -1
	for i := 1; i < len(o.Layers) && first < 0; i++ {
		if o.Layers[i].Node == o.Layers[i-1].Node {
			first = i - 1
		}
	}
	if first < 0 {
		return nil
	}
	other := k.oldest().build(s)
	result := merge.Fold([]merge.Plan{{SameTarget: merge.Fill}}, k.Rules, other.stack)
	if merge.Equal(result.Doc, o.Result.Doc) {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Info, Code: model.SettingMatters,
		Message: fmt.Sprintf("%s and %s target one object; with %s=oldest the result would be %s", o.Layers[first].Policy.Ref(), o.Layers[first+1].Policy.Ref(), policy.SameLevelSetting, differing(result, o.Result)),
		Hint:    "describe the kind with --policy-kinds if its controller lets the oldest policy win"}.At(o.Layers[first].Policy.Object)}
}

// oldest is the kind as if the oldest policy of a target always won; only for building stacks.
func (k *Kind) oldest() *Kind {
	twin := *k
	described := *k.Kind
	described.SameTarget = policy.Oldest
	twin.Kind, twin.rejectedAt = &described, nil
	twin.attached = map[topology.NodeID]place{}
	for id, p := range k.attached {
		if len(p.policies) > 1 && twin.rejecting(p) {
			p.policies = p.policies[:1]
		}
		twin.attached[id] = p
	}
	return &twin
}
