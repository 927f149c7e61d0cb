package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// verdictWriter turns positions of a fold into the shape of the contract.
type verdictWriter struct {
	res     *resolve.Resolution
	verdict *resolve.Verdict
}

// newVerdictWriter returns what writes the verdict of a stack.
func newVerdictWriter(r *resolve.Resolution, v *resolve.Verdict) verdictWriter {
	return verdictWriter{res: r, verdict: v}
}

// buildSource returns the source of a setting.
func (w verdictWriter) buildSource(from merge.Source, rule merge.Path) Source {
	l := w.verdict.Layers[from.Layer]
	origin := l.Policy.OriginOf(from.Block, rule)
	node := w.res.Node(l.Node)
	if l.Policy.Builtin != "" {
		return Source{Target: &node.Ref, Level: string(l.Level), Builtin: l.Policy.Builtin, Origin: &origin}
	}
	if from.Filled {
		return Source{Target: &node.Ref, Level: string(l.Level), Block: from.Block.String(), Strategy: w.verdict.StrategyOf(from),
			Builtin: "API default of " + l.Policy.Ref().String(), Origin: &l.Policy.Object.Origin}
	}
	return Source{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level), Block: from.Block.String(),
		Strategy: w.verdict.StrategyOf(from), Condition: l.Policy.ConditionOf(from.Block), Origin: &origin, Part: l.Policy.Part}
}

// buildSources returns the sources of a setting, in their order.
func (w verdictWriter) buildSources(from []merge.Source, rule merge.Path) []Source {
	out := make([]Source, len(from))
	for i, f := range from {
		out[i] = w.buildSource(f, rule)
	}
	return out
}

func (w verdictWriter) buildRule(r merge.Rule) Rule {
	out := Rule{Name: r.Name, Path: r.Path, Value: r.Value, Sources: w.buildSources(r.From, r.Path), Lost: make([]Loss, 0, len(r.Lost))}
	for i := range r.Lost {
		out.Lost = append(out.Lost, w.buildLoss(&r.Lost[i]))
	}
	return out
}

func (w verdictWriter) buildLoss(l *merge.Loss) Loss {
	out := Loss{Source: w.buildSource(l.From, l.Path), Value: l.Value, Reason: string(l.Reason), Message: w.explainLoss(l), LostTo: w.buildWinners(l)}
	out.Why = shortLossReason(l.Reason, out.LostTo)
	return out
}

// shortLossReason says a loss in a few words.
func shortLossReason(reason merge.Reason, to []Source) string {
	if len(to) == 0 {
		return explain.ShortReason(reason, "")
	}
	return explain.ShortReason(reason, to[0].Level)
}

// explainLoss says a loss in a sentence.
func (w verdictWriter) explainLoss(l *merge.Loss) string {
	return explain.DescribeLoss(w.res, w.verdict, l)
}

// buildWinners says to whom a setting was lost, each with what decided.
func (w verdictWriter) buildWinners(l *merge.Loss) []Source {
	out := make([]Source, len(l.To))
	for i, to := range l.To {
		out[i] = w.buildSource(to.Source, l.Path)
		if d := to.Decision; d.Criterion != "" {
			out[i].DecidedBy = &Deciding{By: string(d.Criterion), Called: d.KeyName, Winner: d.Winner, Loser: d.Loser}
		}
	}
	return out
}

// buildPolicyUses writes the stack with what became of every policy.
func (w verdictWriter) buildPolicyUses(roles []resolve.Role) []PolicyUse {
	out := make([]PolicyUse, len(w.verdict.Layers))
	for i, l := range w.verdict.Layers {
		node, role := w.res.Node(l.Node), string(roles[i])
		if l.Policy.Builtin != "" {
			out[i] = PolicyUse{Target: &node.Ref, Level: string(l.Level), Origin: &l.Policy.Object.Origin, Builtin: l.Policy.Builtin, Role: role}
			continue
		}
		out[i] = PolicyUse{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level), Strategy: w.verdict.StrategyOf(merge.Source{Layer: i, Block: l.MainBlock()}), Origin: &l.Policy.Object.Origin, Part: l.Policy.Part, Role: role}
	}
	return out
}
