package kinds

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table lists the policy kinds of this run, one per line.
func (l *KindList) Table(o view.TableOptions) view.Table {
	if len(l.Items) == 0 {
		return view.Table{Footer: append([]string{"no policy kind is known"}, l.IncompleteLines()...)}
	}
	b := view.Block{Columns: []view.Column{{Name: "KIND", Rank: 2, MinWidth: 22}, {Name: "SHORT", Rank: 7, MinWidth: 6,
		Optional: true}, {Name: "VENDOR", Rank: 5, MinWidth: 10}, {Name: "CLASS", Rank: 9, MinWidth: 9, Optional: true},
		{Name: "TARGETS", Rank: 8, MinWidth: 16, Wrap: true, Below: true}, {Name: "OBJECTS"},
		{Name: "PLURAL", Wide: true}, {Name: "STRATEGIES", Wide: true}, {Name: "RESULTS AT",
			Wide: true}, {Name: "A RULE IS", Wide: true}, {Name: "FROM", Wide: true}, {Name: "SCHEMA",
			Wide: true}}}
	shown := l.Items[:o.CountShown(len(l.Items))]
	for i := range shown {
		k := &shown[i]
		tone := view.Plain
		if k.Objects == 0 {
			tone = view.Dim
		}
		row := []view.Cell{}
		for _, text := range []string{k.Kind, strings.Join(k.ShortNames, ", "), k.Vendor, k.Class,
			view.JoinNames(k.Targets, o), strconv.Itoa(k.Objects),
			k.Plural, strings.Join(k.Strategies, ", "), strings.Join(k.Effective, ", "), k.Rules, k.From, k.Schema} {
			row = append(row, view.Cell{Text: view.OrDash(text), Tone: tone})
		}
		b.Rows = append(b.Rows, row)
	}
	used := 0
	for i := range l.Items {
		if l.Items[i].Objects > 0 {
			used++
		}
	}
	t := view.Table{Blocks: []view.Block{b}, Footer: view.FormatMoreLine(len(l.Items)-len(shown), "kind")}
	t.Footer = append(t.Footer, fmt.Sprintf("%s · %d with objects", view.FormatCount(len(l.Items), "kind"), used))
	for i := range shown {
		t.Footer = append(t.Footer, shown[i].guessLine()...)
	}
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}

// guessLine says how a generic kind is read, and what of that may be wrong.
func (k *KindInfo) guessLine() []string {
	if k.Reading == "" || k.Objects == 0 {
		return nil
	}
	line := k.Kind + " is read as GEP-713 says: " + k.Reading
	if len(k.Guesses) > 0 {
		line += "; not known: " + strings.Join(k.Guesses, ", ")
	}
	return []string{line}
}
