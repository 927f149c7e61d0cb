package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// writer turns positions of a fold into names.
type writer struct {
	res     *resolve.Resolution
	verdict *resolve.Verdict
}

func (w writer) source(from merge.From, rule merge.Path) Source {
	l := w.verdict.Layers[from.Layer]
	origin := l.Policy.OriginOf(from.Block, rule)
	node := w.res.Node(l.Node)
	if l.Policy.Builtin != "" {
		return Source{Target: &node.Ref, Level: string(l.Level), Builtin: l.Policy.Builtin, Origin: &origin}
	}
	if from.Filled {
		return Source{Target: &node.Ref, Level: string(l.Level), Block: from.Block.String(), Strategy: w.verdict.Strategy(from),
			Builtin: "API default of " + l.Policy.Ref().String(), Origin: &l.Policy.Object.Origin}
	}
	return Source{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level), Block: from.Block.String(),
		Strategy: w.verdict.Strategy(from), Condition: l.Policy.ConditionOf(from.Block), Origin: &origin, Part: l.Policy.Part}
}

func (w writer) sources(from []merge.From, rule merge.Path) []Source {
	out := make([]Source, len(from))
	for i, f := range from {
		out[i] = w.source(f, rule)
	}
	return out
}

func (w writer) rule(r merge.Rule) Rule {
	out := Rule{Name: r.Name, path: r.Path, Value: r.Value, Sources: w.sources(r.From, r.Path), Lost: make([]Loss, 0, len(r.Lost))}
	for i := range r.Lost {
		out.Lost = append(out.Lost, w.loss(&r.Lost[i]))
	}
	return out
}

func (w writer) loss(l *merge.Loss) Loss {
	out := Loss{Source: w.source(l.From, l.Path), Value: l.Value, Reason: string(l.Reason), Message: w.why(l), LostTo: w.winners(l)}
	out.Why = shortLoss(l.Reason, out.LostTo)
	return out
}

// shortLoss is a loss in a few words.
func shortLoss(reason merge.Reason, to []Source) string {
	if len(to) == 0 {
		return explain.Short(reason, "")
	}
	return explain.Short(reason, to[0].Level)
}

// why is a loss in a sentence.
func (w writer) why(l *merge.Loss) string { return explain.Loss(w.res, w.verdict, l) }

// winners are who a setting was lost to, each with what decided.
func (w writer) winners(l *merge.Loss) []Source {
	out := make([]Source, len(l.To))
	for i, to := range l.To {
		out[i] = w.source(to.From, l.Path)
		if d := to.By; d.Criterion != "" {
			out[i].DecidedBy = &Deciding{By: string(d.Criterion), Called: d.Called, Winner: d.Winner, Loser: d.Loser}
		}
	}
	return out
}

// uses is the stack with what became of every policy.
func (w writer) uses(roles []resolve.Role) []PolicyUse {
	out := make([]PolicyUse, len(w.verdict.Layers))
	for i, l := range w.verdict.Layers {
		node, role := w.res.Node(l.Node), string(roles[i])
		if l.Policy.Builtin != "" {
			out[i] = PolicyUse{Target: &node.Ref, Level: string(l.Level), Origin: &l.Policy.Object.Origin, Builtin: l.Policy.Builtin, Role: role}
			continue
		}
		out[i] = PolicyUse{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level), Strategy: w.verdict.Strategy(merge.From{Layer: i, Block: l.MainBlock()}), Origin: &l.Policy.Object.Origin, Part: l.Policy.Part, Role: role}
	}
	return out
}
