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
	policies := Block{Columns: []Column{{Name: "POLICY"}, {Name: "TARGET"}, {Name: "ACCEPTED"}, {Name: "IN FORCE"}, {Name: "NOTE"}}}
	objects := Block{Columns: []Column{{Name: "OBJECT"}, {Name: "PARENT"}, {Name: "CONDITION"}, {Name: "STATUS"}, {Name: "REASON"}, {Name: "MESSAGE", Wide: true}}}
	for i := range l.Items {
		item := &l.Items[i]
		if item.policy {
			policies.Rows = append(policies.Rows, item.policyRow(o))
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
	t.Footer = append(t.Footer, l.closing()...)
	return t
}

// Names are the objects, each once.
func (l *StatusList) Names() []string {
	return namesOf(l.Items, func(i *ObjectStatus) *model.Ref { return &i.Object })
}

// policyRow is a policy as one line.
func (s *ObjectStatus) policyRow(o TableOptions) []Cell {
	var targets []string
	for _, t := range s.targets {
		name, _ := commandArgument(t)
		if t.Namespace != s.Object.Namespace && t.Namespace != "" {
			name += " -n " + t.Namespace
		}
		targets = append(targets, name)
	}
	arg, namespace := commandArgument(s.Object)
	row := []Cell{{Text: strings.Join(append([]string{arg}, namespace...), " ")}, {Text: strings.Join(targets, ", ")}, {Text: "-"}, {Text: "-"}, {Text: ""}}
	switch {
	case s.refused:
		row[2] = Cell{Text: "refused", Tone: Bad}
		return row
	case s.Note != "":
		row[4].Text = s.Note
		return row
	case len(s.Ancestors) == 0:
		row[4].Text = "no Gateway has a route to the target"
		return row
	}
	for _, c := range s.Ancestors[0].Conditions {
		cell := Cell{Text: c.Status, Tone: conditionTone(c)}
		if c.Reason != c.Type {
			cell.Text += " " + c.Reason
		}
		switch c.Type {
		case "Accepted":
			row[2] = cell
		case "ResolvedRefs": // says nothing about being in force
		default:
			row[3] = cell
		}
		if c.Status != "True" || cell.Tone == Partly || o.Wide {
			row[4].Text = c.Message
		}
	}
	return row
}

// conditionTone is how good a condition is. What is not known is neither good nor bad.
func conditionTone(c Condition) Tone {
	switch {
	case c.Type != "Accepted" && (strings.Contains(c.Message, "partially") || strings.HasPrefix(c.Reason, "Partially")):
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
