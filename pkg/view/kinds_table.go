package view

import (
	"fmt"
	"strconv"
	"strings"
)

// Table lists the policy kinds of this run, one per line.
func (l *KindList) Table(o TableOptions) Table {
	if len(l.Items) == 0 {
		return Table{Footer: append([]string{"no policy kind is known"}, l.IncompleteLines()...)}
	}
	b := Block{Columns: []Column{{Name: "KIND", Rank: 2, MinWidth: 22}, {Name: "SHORT", Rank: 7, MinWidth: 6, Optional: true}, {Name: "VENDOR", Rank: 5, MinWidth: 10}, {Name: "CLASS", Rank: 9, MinWidth: 9, Optional: true},
		{Name: "TARGETS", Rank: 8, MinWidth: 16}, {Name: "OBJECTS"},
		{Name: "PLURAL", Wide: true}, {Name: "STRATEGIES", Wide: true}, {Name: "RESULTS AT", Wide: true}, {Name: "A RULE IS", Wide: true}, {Name: "FROM", Wide: true}}}
	shown := l.Items[:o.countShown(len(l.Items))]
	for i := range shown {
		k := &shown[i]
		tone := Plain
		if k.Objects == 0 {
			tone = Dim
		}
		row := []Cell{}
		for _, text := range []string{k.Kind, strings.Join(k.ShortNames, ", "), k.Vendor, k.Class, joinNames(k.Targets, o), strconv.Itoa(k.Objects),
			k.Plural, strings.Join(k.Strategies, ", "), strings.Join(k.Effective, ", "), k.Rules, k.From} {
			row = append(row, Cell{Text: orDash(text), Tone: tone})
		}
		b.Rows = append(b.Rows, row)
	}
	used := 0
	for i := range l.Items {
		if l.Items[i].Objects > 0 {
			used++
		}
	}
	t := Table{Blocks: []Block{b}, Footer: formatMoreLine(len(l.Items)-len(shown), "kind")}
	t.Footer = append(t.Footer, fmt.Sprintf("%s · %d with objects", FormatCount(len(l.Items), "kind"), used))
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
