package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
)

// conditionProblems reports the conditions that could not be judged.
func (o *Verdict) conditionProblems() []model.Problem {
	var out []model.Problem
	for _, st := range o.Result.Trace {
		when, isCEL := st.When.(*expression.Condition)
		// one that does not compile is the policy's own problem
		if st.Err == nil || !isCEL || st.Layer < 0 || when.Err() != nil {
			continue
		}
		p := o.Layers[st.Layer].Policy
		problem := model.Problem{Severity: model.Error, Code: model.InvalidCondition,
			Message: fmt.Sprintf("the condition %q of %s %s: the block does not apply", when.Text, st.Block, st.Err)}
		if errors.Is(st.Err, expression.ErrMissingField) {
			problem.Severity, problem.Code = model.Warning, model.ConditionMissingField
			problem.Message = fmt.Sprintf("the condition %q of %s reads a field that is not there (%s): not matched",
				when.Text, st.Block, strings.TrimPrefix(st.Err.Error(), expression.ErrMissingField.Error()+": "))
			problem.Hint = "guard it with has(…)"
		}
		problem = problem.At(p.Object)
		origin := p.OriginOf(st.Block, merge.KeyPath(p.Kind.Content.Condition))
		problem.Origin = &origin
		out = append(out, problem)
	}
	return out
}

// uncertainOrders reports losses that only an order without creation times decided, where the
// values differ (engine E9).
func (o *Verdict) uncertainOrders() []model.Problem {
	var out []model.Problem
	said := map[*policy.Policy]bool{}
	for loss := range o.eachLoss {
		l := &o.Layers[loss.From.Layer]
		if said[l.Policy] {
			continue
		}
		if p := o.openOrderProblem(l, loss); p != nil {
			said[l.Policy] = true
			out = append(out, *p)
			continue
		}
		if !l.orderUncertain {
			continue
		}
		for _, to := range loss.To {
			w := &o.Layers[to.Layer]
			if w.Node != l.Node || w.Level != l.Level || w.Policy == l.Policy || !l.IsOrderedByName(*w) ||
				l.Policy.Kind.HasOpenKey() || o.setsValue(to.Source, loss.Path, loss.Value) {
				continue
			}
			said[l.Policy] = true
			out = append(out, model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
				Message: fmt.Sprintf(
					"%s and %s target the same object and not all such policies have a creation time: they are ordered by name, another order would change the result", l.Policy.Ref(), w.Policy.Ref()),
				Hint: "add metadata.creationTimestamp as the cluster has it"}.At(l.Policy.Object))
			break
		}
	}
	return out
}

// openOrderProblem reports a loss that only keys decided which stand in for an order that the
// implementation leaves open.
func (o *Verdict) openOrderProblem(l *Layer, loss *merge.Loss) *model.Problem {
	for _, to := range loss.To {
		w := &o.Layers[to.Layer]
		if to.Block != loss.From.Block { // whatever the order is
			continue
		}
		if w.Node != l.Node || w.Level != l.Level || w.Policy == l.Policy || l.attached.Policy == nil ||
			w.attached.Policy == nil || o.setsValue(to.Source, loss.Path, loss.Value) ||
			!l.Policy.Kind.IsLeftOpen(l.attached, w.attached) {
			continue
		}
		p := model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
			Message: fmt.Sprintf(
				"%s and %s set %s for the same target: which of them counts is left open, here %s is taken",
				l.Policy.Ref(), w.Policy.Ref(), loss.Rule, w.Policy.Ref()),
			Hint: "let only one of them set it", Undecided: true}.At(l.Policy.Object)
		return &p
	}
	return nil
}

// setsValue reports whether the block at from sets what stands at path to the same value.
func (o *Verdict) setsValue(from merge.Source, path merge.Path, value any) bool {
	for _, b := range o.Layers[from.Layer].blocksAtPlace() {
		if b.Kind != from.Block {
			continue
		}
		if slices.ContainsFunc(b.Units, func(u merge.Unit) bool {
			return slices.Equal(u.Path, path) &&
				merge.Equal(u.Value, value)
		}) {
			return true
		}
		keys := make([]string, len(path))
		for i, seg := range path {
			keys[i] = seg.Name
		}
		if have := model.Get(merge.Unpack(merge.Assemble(b.Units)), keys...); have != nil && merge.Equal(have, value) {
			return true
		}
	}
	return false
}

// stackVariants are other readings of what holds with a stack.
type stackVariants struct {
	*pathEngine
	stack StackID
}

func (k stackVariants) findProblems(o *Verdict) []model.Problem {
	return append(k.orderProblems(o), k.settingProblems(o)...)
}

// orderProblems reports that folding from the top would give another result (gep713 P27).
func (k stackVariants) orderProblems(o *Verdict) []model.Problem {
	if !k.ChecksDirection || len(o.Layers) < 3 {
		return nil
	}
	other, differs := merge.FoldTopDown(k.plansOf(k.stack), k.Rules, o.stack)
	if !differs {
		return nil
	}
	var names []string
	for _, l := range o.Layers {
		names = append(names, l.Policy.Ref().FullName())
	}
	return []model.Problem{model.Problem{Severity: model.Info, Code: model.OrderSensitive, Message: fmt.Sprintf(
		"the order of folding %s (%s) is left open by GEP-713 and changes the result: from the bottom, as here, %s; from the top %s",
		k.GroupKind.Kind, strings.Join(names, ", "), describeDifferences(o.Result, other), describeDifferences(other,
			o.Result))}.At(o.Layers[0].Policy.Object)}
}

// describeDifferences names the rules of a result that another one does not have alike, with their
// values.
func describeDifferences(r, other merge.Result) string {
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

// settingProblems reports that the other reading of several policies on one target would change the
// result (gep713 P32).
func (k stackVariants) settingProblems(o *Verdict) []model.Problem {
	if !k.IsGeneric() || k.Direct || k.SameTarget != policy.Stacked {
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
	other := stackLayout{k.oldestFirst(), k.stack}.buildLayers()
	result := merge.Fold([]merge.Plan{{SameTarget: merge.Fill}}, k.Rules, other.stack)
	if merge.Equal(result.Document(), o.Result.Document()) {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Info, Code: model.SettingMatters,
		Message: fmt.Sprintf("%s and %s target one object; with %s=oldest the result would be %s",
			o.Layers[first].Policy.Ref(), o.Layers[first+1].Policy.Ref(), descriptor.SameLevelSetting,
			describeDifferences(result, o.Result)),
		Hint: "describe the kind with --policy-kinds if its controller lets the oldest policy win"}.At(
		o.Layers[first].Policy.Object)}
}

// oldestFirst returns the engine of the kind as if the oldest policy of a target always won; only
// for laying stacks out.
func (k stackVariants) oldestFirst() *pathEngine {
	twin, described := *k.Kind, *k.Kind.Kind
	described.SameTarget = policy.Oldest
	twin.Kind, twin.RejectedAt = &described, nil
	twin.Table = maps.Clone(k.Table)
	for id, p := range k.Table {
		if len(p.Policies) > 1 && attach.KeepsFirstOnly(twin.Kind, p) {
			p.Policies = p.Policies[:1]
			twin.Table[id] = p
		}
	}
	return &pathEngine{Kind: &twin, stackTable: k.stackTable}
}
