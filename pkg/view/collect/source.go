package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// VerdictWriter turns positions of a fold into the shape of the contract.
type VerdictWriter struct {
	res     *resolve.Resolution
	Verdict *resolve.Verdict
}

// NewVerdictWriter returns what writes the verdict of a stack.
func NewVerdictWriter(r *resolve.Resolution, v *resolve.Verdict) VerdictWriter {
	return VerdictWriter{res: r, Verdict: v}
}

// BuildSource returns the source of a setting.
func (w VerdictWriter) BuildSource(from merge.Source, rule merge.Path) view.Source {
	l := w.Verdict.Layers[from.Layer]
	origin := l.Policy.OriginOf(from.Block, rule)
	node := w.res.Node(l.Node)
	if l.Policy.Builtin != "" {
		return view.Source{Target: &node.Ref, Level: string(l.Level), Builtin: l.Policy.Builtin, Origin: &origin}
	}
	if from.Filled {
		return view.Source{Target: &node.Ref, Level: string(l.Level), Block: from.Block.String(),
			Strategy: w.Verdict.StrategyOf(from),
			Builtin:  "API default of " + l.Policy.Ref().String(), Origin: &l.Policy.Object.Origin}
	}
	return view.Source{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level),
		Block:    from.Block.String(),
		Strategy: w.Verdict.StrategyOf(from), Condition: l.Policy.ConditionOf(from.Block), Origin: &origin,
		Part: l.Policy.Part}
}

// BuildSources returns the sources of a setting, in their order.
func (w VerdictWriter) BuildSources(from []merge.Source, rule merge.Path) []view.Source {
	out := make([]view.Source, len(from))
	for i, f := range from {
		out[i] = w.BuildSource(f, rule)
	}
	return out
}

func (w VerdictWriter) buildRule(r merge.Rule) view.Rule {
	out := view.Rule{Name: r.Name, Path: r.Path, Value: r.Value, Sources: w.BuildSources(r.From, r.Path),
		Lost: make([]view.Loss, 0, len(r.Lost))}
	for i := range r.Lost {
		out.Lost = append(out.Lost, w.buildLoss(&r.Lost[i]))
	}
	return out
}

func (w VerdictWriter) buildLoss(l *merge.Loss) view.Loss {
	out := view.Loss{Source: w.BuildSource(l.From, l.Path), Value: l.Value, Reason: string(l.Reason),
		Message: w.ExplainLoss(l), LostTo: w.BuildWinners(l)}
	out.Why = ShortLossReason(l, out.LostTo)
	return out
}

// ShortLossReason says a loss to winners in a few words; to one on the same level, what put that
// first.
func ShortLossReason(l *merge.Loss, to []view.Source) string {
	if l.Reason == merge.SameLevelOrder && len(l.To) > 0 && l.To[0].Decision.Criterion != "" {
		return "on the same level, and " + explain.DescribeStanding(l.To[0].Decision)
	}
	if len(to) == 0 {
		return explain.ShortReason(l.Reason, "")
	}
	return explain.ShortReason(l.Reason, to[0].Level)
}

// ExplainLoss says a loss in a sentence.
func (w VerdictWriter) ExplainLoss(l *merge.Loss) string {
	return explain.DescribeLoss(w.res, w.Verdict, l)
}

// BuildWinners says to whom a setting was lost, each with what decided.
func (w VerdictWriter) BuildWinners(l *merge.Loss) []view.Source {
	out := make([]view.Source, len(l.To))
	for i, to := range l.To {
		out[i] = w.BuildSource(to.Source, l.Path)
		if d := to.Decision; d.Criterion != "" {
			out[i].DecidedBy = &view.Deciding{By: string(d.Criterion), Called: d.KeyName, Winner: d.Winner,
				Loser: d.Loser}
		}
	}
	return out
}

// buildPolicyUses writes the stack with what became of every policy.
func (w VerdictWriter) buildPolicyUses(roles []resolve.Role) []view.PolicyUse {
	out := make([]view.PolicyUse, len(w.Verdict.Layers))
	for i, l := range w.Verdict.Layers {
		node, role := w.res.Node(l.Node), string(roles[i])
		if l.Policy.Builtin != "" {
			out[i] = view.PolicyUse{Target: &node.Ref, Level: string(l.Level), Origin: &l.Policy.Object.Origin,
				Builtin: l.Policy.Builtin, Role: role}
			continue
		}
		out[i] = view.PolicyUse{Policy: &l.Policy.Object.Ref, Target: &node.Ref, Level: string(l.Level),
			Strategy: w.Verdict.StrategyOf(merge.Source{Layer: i, Block: l.MainBlock()}),
			Origin:   &l.Policy.Object.Origin, Part: l.Policy.Part, Role: role}
	}
	return out
}

// IsPartOfRule reports whether a printed rule is the one asked for, or a part of it.
func IsPartOfRule(printed, asked string) bool {
	return asked == "" || printed == asked || strings.HasPrefix(printed, asked+".") ||
		strings.HasPrefix(printed, asked+"[")
}

// DescribeLosses says in a few words what became of settings that were lost, and to whom: "replaced
// by shop/cart-auth (route)".
func (w VerdictWriter) DescribeLosses(losses []merge.Loss) string {
	var reasons []merge.Reason
	by := map[merge.Reason][]string{}
	for _, l := range losses {
		if !slices.Contains(reasons, l.Reason) {
			reasons = append(reasons, l.Reason)
		}
		for _, s := range w.BuildSources(l.WinningSources(), l.Path) {
			name := view.SourceName(s)
			if s.Level != "" {
				name += " (" + explain.LevelName(s.Level) + ")"
			}
			if !slices.Contains(by[l.Reason], name) {
				by[l.Reason] = append(by[l.Reason], name)
			}
		}
	}
	var out []string
	for _, reason := range reasons {
		names := by[reason]
		if len(names) > 2 {
			names = []string{fmt.Sprintf("%s and %d more", names[0], len(names)-1)}
		}
		if fate := explain.DescribeOutcome(reason, strings.Join(names, ", ")); !slices.Contains(out, fate) {
			out = append(out, fate)
		}
	}
	return strings.Join(out, "; ")
}
