package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// writer turns positions of a fold into names.
type writer struct {
	res     *resolve.Resolution
	outcome *resolve.Outcome
}

func (w writer) source(from merge.From, rule merge.Path) Source {
	l := w.outcome.Layers[from.Layer]
	origin := l.Policy.OriginOf(from.Block, rule)
	node := w.res.Node(l.Node)
	if l.Policy.Builtin != "" {
		return Source{Target: &node.Ref, Level: string(l.Level), Builtin: l.Policy.Builtin, Origin: &origin}
	}
	if from.Filled {
		return Source{Target: &node.Ref, Level: string(l.Level), Block: from.Block.String(), Strategy: w.outcome.Strategy(from),
			Builtin: "API default of " + l.Policy.Ref().String(), Origin: &l.Policy.Object.Origin}
	}
	return Source{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level), Block: from.Block.String(),
		Strategy: w.outcome.Strategy(from), Condition: conditionOf(l.Policy, from.Block), Origin: &origin, Part: l.Policy.Part}
}

func (w writer) sources(from []merge.From, rule merge.Path) []Source {
	out := make([]Source, len(from))
	for i, f := range from {
		out[i] = w.source(f, rule)
	}
	return out
}

func (w writer) rule(r merge.Rule) Rule {
	out := Rule{Name: r.Name, Value: r.Value, Sources: w.sources(r.From, r.Path), Lost: make([]Loss, 0, len(r.Lost))}
	for _, l := range r.Lost {
		out.Lost = append(out.Lost, w.loss(l))
	}
	return out
}

func (w writer) loss(l merge.Loss) Loss {
	return Loss{Source: w.source(l.From, l.Path), Value: l.Value, Reason: string(l.Reason), Message: w.why(l), LostTo: w.sources(l.To, l.Path)}
}

// conditionOf is the text of a block's condition, "" if it has none.
func conditionOf(p *policy.Policy, kind merge.BlockKind) string {
	for _, b := range p.Blocks {
		if when, ok := b.When.(*expression.Condition); ok && b.Kind == kind {
			return when.Text
		}
	}
	return ""
}

// partners are the layers that took part in a merge for which one of them asked.
func (w writer) partners() map[int]bool {
	out := map[int]bool{}
	if w.outcome.Void != "" {
		return out
	}
	for _, st := range w.outcome.Result.Trace {
		for _, at := range st.Partners {
			out[at] = true
		}
	}
	return out
}

// uses is the stack with what became of every policy. One that another asked to be merged with takes part whatever is left of it.
func (w writer) uses() []PolicyUse {
	partner := w.partners()
	won, lost, ignored := map[int]int{}, map[int]int{}, map[int]int{}
	for _, r := range w.outcome.Result.Rules {
		for _, f := range r.From {
			won[f.Layer]++
		}
	}
	for _, l := range w.outcome.Losses() {
		lost[l.From.Layer]++
		if l.Reason == merge.Ignored {
			ignored[l.From.Layer]++
		}
	}
	out := make([]PolicyUse, len(w.outcome.Layers))
	for i, l := range w.outcome.Layers {
		node := w.res.Node(l.Node)
		role := "ignored"
		switch {
		case won[i] > 0 && lost[i] > 0:
			role = "partial"
		case won[i] > 0:
			role = "contributing"
		case partner[i]:
			role = "partial"
		case lost[i] > ignored[i]:
			role = "lost"
		}
		if l.Policy.Builtin != "" {
			out[i] = PolicyUse{Target: &node.Ref, Level: string(l.Level), Origin: &l.Policy.Object.Origin, Builtin: l.Policy.Builtin, Role: role}
			continue
		}
		out[i] = PolicyUse{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level), Strategy: w.outcome.Strategy(merge.From{Layer: i, Block: l.MainBlock()}), Origin: &l.Policy.Object.Origin, Part: l.Policy.Part, Role: role}
	}
	return out
}
