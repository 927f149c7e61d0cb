package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// teller is about one loss of a verdict.
type teller struct {
	res     *resolve.Resolution
	verdict *resolve.Verdict
	loss    *merge.Loss
}

// layer is the loser's.
func (t *teller) layer() *resolve.Layer { return &t.verdict.Layers[t.loss.From.Layer] }

// Loss says in one plain sentence why a setting lost, and to whom.
func Loss(r *resolve.Resolution, v *resolve.Verdict, l *merge.Loss) string {
	var all Losses
	all.Add(r, v, l)
	return all.String()
}

// Losses are reasons for which one setting, or several, are lost in several places.
type Losses struct{ clauses []clause }

// Add adds why a setting lost.
func (ls *Losses) Add(r *resolve.Resolution, v *resolve.Verdict, l *merge.Loss) {
	t := teller{r, v, l}
	for _, c := range byReason[l.Reason].clauses(&t) {
		ls.clauses = join(ls.clauses, c)
	}
}

// Join adds those of other losses.
func (ls *Losses) Join(other Losses) {
	for _, c := range other.clauses {
		ls.clauses = join(ls.clauses, clause{c.format, slices.Clone(c.names)})
	}
}

// String says why, winners of whom the same is said together.
func (ls Losses) String() string {
	parts := make([]string, len(ls.clauses))
	for i, c := range ls.clauses {
		parts[i] = c.String()
	}
	return strings.Join(parts, "; ")
}

// join adds the names of a clause to those of one that says the same.
func join(all []clause, c clause) []clause {
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

// names are the winners, each once.
func (t *teller) names(to []merge.Winner) []string {
	var names []string
	for _, w := range to {
		if name := t.name(w); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []string{"the settings below it"}
	}
	return names
}

func (t *teller) name(w merge.Winner) string {
	if w.Layer == t.loss.From.Layer {
		return "the policy's own " + w.Block.String() + " set"
	}
	l := &t.verdict.Layers[w.Layer]
	target := t.res.Node(l.Node).Ref
	if l.Policy.Builtin != "" {
		return l.Policy.Builtin + " of " + target.String()
	}
	ref := l.Policy.Ref()
	name := ref.Kind + " " + ref.FullName()
	if l.Policy.Part != "" {
		name += " " + l.Policy.Part
	}
	return fmt.Sprintf("%s (%s)", name, target)
}

// Most is how many names a sentence has before it counts.
const Most = 5

// Few lists up to Most names, then counts.
func Few(names []string) string {
	if rest := len(names) - Most; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:Most], ", "), rest)
	}
	return strings.Join(names, ", ")
}
