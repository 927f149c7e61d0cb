package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Table shows every policy with its target, whether it is accepted and whether it is in force; then the other objects with every
// condition that is not as it should be.
func (l *StatusList) Table(o TableOptions) Table {
	if l.Summary != nil {
		return l.auditTable(o)
	}
	policies := Block{Columns: []Column{{Name: "POLICY", Rank: 5, Least: 26}, {Name: "TARGET", Rank: 6, Least: 16, KeepEnd: true}, {Name: "ACCEPTED", Rank: 2, Least: 10}, {Name: "IN FORCE", Rank: 3, Least: 10},
		{Name: "NOTE", Rank: 9, Least: 30, Wrap: true}}}
	objects := Block{Columns: []Column{{Name: "OBJECT", Rank: 6, Least: 22}, {Name: "PARENT", Rank: 8, Least: 14, KeepEnd: true, Short: withoutKind}, {Name: "CONDITION", Rank: 7, Least: 14, Short: shortName}, {Name: "STATUS"}, {Name: "REASON", Rank: 9, Least: 12}, {Name: "MESSAGE", Wide: true}}}
	for i := range l.Items {
		item := &l.Items[i]
		if item.policy {
			policies.Rows = append(policies.Rows, item.policyRows(o)...)
		} else {
			objects.Rows = append(objects.Rows, item.objectRows()...)
		}
	}
	var t Table
	for _, b := range []Block{policies, objects} {
		if len(b.Rows) == 0 {
			continue
		}
		shown := o.limit(len(b.Rows))
		t.Footer = append(t.Footer, moreLine(len(b.Rows)-shown, "line")...)
		b.Rows = b.Rows[:shown]
		t.Blocks = append(t.Blocks, b)
	}
	if len(l.Items) == 0 {
		t.Footer = append(t.Footer, "no policies")
	}
	t.Footer = append(t.Footer, l.Closing()...)
	return t
}

// Names are the objects, each once; of an audit those that differ.
func (l *StatusList) Names() []string {
	if l.Summary != nil {
		return l.auditNames()
	}
	return namesOf(l.Items, func(i *ObjectStatus) *model.Ref { return &i.Object })
}

// policyRows is a policy as one line, or one for every different verdict that its ancestors come to.
func (s *ObjectStatus) policyRows(o TableOptions) [][]Cell {
	var targets []string
	for _, t := range s.targets {
		name, _ := commandArgument(t)
		if t.Namespace != s.Object.Namespace && t.Namespace != "" {
			name += " -n " + t.Namespace
		}
		targets = append(targets, name)
	}
	arg, namespace := commandArgument(s.Object)
	blank := []Cell{{Text: strings.Join(append([]string{arg}, namespace...), " ")}, {Text: strings.Join(targets, ", ")}, {Text: "-"}, {Text: "-"}, {Text: ""}}
	switch {
	case s.refused:
		blank[2] = Cell{Text: "refused", Tone: Bad}
		return [][]Cell{blank}
	case s.Note != "":
		blank[4].Text = s.Note
		return [][]Cell{blank}
	case len(s.Ancestors) == 0 && len(s.targets) == 0:
		blank[4].Text = "nothing is reported about a policy without references"
		return [][]Cell{blank}
	case len(s.Ancestors) == 0:
		blank[4].Text = "nothing is reported: the target does not exist, no Gateway leads to it, or other policies took its place"
		return [][]Cell{blank}
	}
	verdicts := s.verdicts()
	var rows [][]Cell
	for _, v := range verdicts {
		row := slices.Clone(blank)
		v.fill(row, o)
		if len(verdicts) > 1 {
			row[4].Text = strings.TrimSuffix("for "+strings.Join(v.towards, ", ")+": "+row[4].Text, ": ")
		}
		rows = append(rows, row)
	}
	return rows
}

// verdict is conditions that a policy has towards some of its ancestors.
type verdict struct {
	conditions []Condition
	towards    []string
}

// verdicts are the different conditions of a policy, with the ancestors that have them.
func (s *ObjectStatus) verdicts() []verdict {
	var out []verdict
	for _, a := range s.Ancestors {
		i := slices.IndexFunc(out, func(v verdict) bool { return slices.Equal(v.conditions, a.Conditions) })
		if i < 0 {
			i = len(out)
			out = append(out, verdict{conditions: a.Conditions})
		}
		if a.AncestorRef != nil {
			out[i].towards = append(out[i].towards, targetName(a.AncestorRef.Ref))
		}
	}
	return out
}

// fill writes the conditions into the cells of a row.
func (v *verdict) fill(row []Cell, o TableOptions) {
	for _, c := range v.conditions {
		cell := Cell{Text: c.Status, Tone: conditionTone(c)}
		switch {
		case c.Status == "True" && c.Reason == c.Type && noted(c.Type):
			cell.Text = c.Type
		case c.Reason != c.Type && !stateWord(c):
			cell.Text += " " + c.Reason
		}
		switch {
		case c.Type == "Accepted", stateWord(c):
			row[2] = cell
		case c.Type == "ResolvedRefs" || c.Type == "Warning": // say nothing about being in force
		case row[3].Text == "-":
			row[3] = cell
		default:
			row[3] = Cell{Text: row[3].Text + ", " + cell.Text, Tone: max(row[3].Tone, cell.Tone)}
		}
		switch {
		case c.Status == "True" && cell.Tone != Partly && !o.Wide:
		case noted(c.Type) && row[4].Text != "":
			row[4].Text += "; " + c.Message
		default:
			row[4].Text = c.Message
		}
	}
}

// stateWord reports whether a condition stands for a word that the implementation writes in the place of conditions.
func stateWord(c Condition) bool {
	return c.Status != "True" && c.Status != "False" && c.Status != "Unknown"
}

// noted reports whether a condition that is True says by its type what became of the policy, and not that all is well.
func noted(conditionType string) bool {
	switch conditionType {
	case "Overridden", "Merged", "Conflicted", "Aggregated":
		return true
	}
	return false
}

// conditionTone is how good a condition is. What is not known is neither good nor bad.
func conditionTone(c Condition) Tone {
	switch {
	case c.Type != "Accepted" && (strings.Contains(c.Message, "partially") || strings.HasPrefix(c.Reason, "Partially")), noted(c.Type) && c.Status == "True":
		return Partly
	case c.Status == "True":
		return Good
	case c.Status == "False":
		return Bad
	}
	return Plain
}

// objectRows is another object, one line per condition and parent.
func (s *ObjectStatus) objectRows() [][]Cell {
	var rows [][]Cell
	for _, a := range s.Ancestors {
		parent := "-"
		if a.AncestorRef != nil {
			parent = targetName(a.AncestorRef.Ref)
			if a.AncestorRef.Port != 0 {
				parent += fmt.Sprintf(" port %d", a.AncestorRef.Port)
			}
		}
		for _, c := range a.Conditions {
			tone := conditionTone(c)
			rows = append(rows, []Cell{{Text: targetName(s.Object)}, {Text: parent}, {Text: c.Type}, {Text: c.Status, Tone: tone}, {Text: c.Reason, Tone: tone}, {Text: c.Message}})
		}
	}
	return slices.Clip(rows)
}
