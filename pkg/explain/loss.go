package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// lossContext is one loss of a verdict, with what its explanation needs.
type lossContext struct {
	res     *resolve.Resolution
	verdict *resolve.Verdict
	loss    *merge.Loss
}

// loserLayer returns the loser's layer.
func (t *lossContext) loserLayer() *resolve.Layer { return &t.verdict.Layers[t.loss.From.Layer] }

// DescribeLoss says in one plain sentence why a setting lost, and to whom.
func DescribeLoss(r *resolve.Resolution, v *resolve.Verdict, l *merge.Loss) string {
	var all LossReasons
	all.Add(r, v, l)
	return all.String()
}

// LossReasons are reasons for which one setting, or several, are lost in several places.
type LossReasons struct{ clauses []clause }

// Add adds why a setting lost.
func (ls *LossReasons) Add(r *resolve.Resolution, v *resolve.Verdict, l *merge.Loss) {
	t := lossContext{r, v, l}
	for _, c := range byReason[l.Reason].clauses(&t) {
		ls.clauses = joinClause(ls.clauses, c)
	}
}

// AddAll adds those of other losses.
func (ls *LossReasons) AddAll(other LossReasons) {
	for _, c := range other.clauses {
		ls.clauses = joinClause(ls.clauses, clause{c.format, slices.Clone(c.names)})
	}
}

// String says why, winners of whom the same is said together.
func (ls LossReasons) String() string {
	parts := make([]string, len(ls.clauses))
	for i, c := range ls.clauses {
		parts[i] = c.String()
	}
	return strings.Join(parts, "; ")
}

// joinClause adds the names of a clause to those of one that says the same.
func joinClause(all []clause, c clause) []clause {
	at := slices.IndexFunc(all, func(x clause) bool { return x.format == c.format })
	if at < 0 {
		return append(all, c)
	}
	for _, name := range c.names {
		if !slices.Contains(all[at].names, name) {
			all[at].names = append(all[at].names, name)
		}
	}
	return all
}

// winnerNames returns the names of the winners, each once.
func (t *lossContext) winnerNames(to []merge.Winner) []string {
	var names []string
	for _, w := range to {
		if name := t.winnerName(w); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []string{"the settings below it"}
	}
	return names
}

func (t *lossContext) winnerName(w merge.Winner) string {
	if w.Layer == t.loss.From.Layer {
		return "the policy's own " + w.Block.String() + " set"
	}
	l := &t.verdict.Layers[w.Layer]
	target := t.res.Node(l.Node).Ref
	if l.Policy.Builtin != "" {
		return l.Policy.Builtin + " of " + target.String()
	}
	name := l.Policy.Ref().String()
	if l.Policy.Part != "" {
		name += " " + l.Policy.Part
	}
	return fmt.Sprintf("%s (%s)", name, target)
}

// MaxNames is how many names a sentence has before it counts.
const MaxNames = 5

// ListNames lists up to MaxNames names, then counts.
func ListNames(names []string) string {
	if rest := len(names) - MaxNames; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:MaxNames], ", "), rest)
	}
	return strings.Join(names, ", ")
}
