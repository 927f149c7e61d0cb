package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table shows every policy with its target, whether it is accepted and whether it is in force; then
// the other objects with every condition that is not as it should be.
func (l *StatusList) Table(o view.TableOptions) view.Table {
	if l.Summary != nil {
		return l.auditTable(o)
	}
	policies := view.Block{Columns: []view.Column{{Name: "KIND", Rank: 9, Shorten: view.ShortKind, Group: true},
		{Name: "POLICY", Rank: 5, MinWidth: 20}, {Name: "TARGET", Rank: 6, MinWidth: 20, Shorten: view.WithoutKind},
		{Name: "ACCEPTED", Rank: 2, MinWidth: 10, Wrap: true},
		{Name: "IN FORCE", Rank: 8, MinWidth: 10, Shorten: shortForce, Keep: true},
		{Name: "NOTE", Rank: 9, MinWidth: 30, Wrap: true, Below: true}}}
	objects := view.Block{Columns: []view.Column{{Name: "OBJECT", Rank: 6, MinWidth: 22, Group: true},
		{Name: "PARENT", Rank: 8, MinWidth: 14, Shorten: view.WithoutKind, Group: true},
		{Name: "CONDITION", Rank: 7, MinWidth: 14, Shorten: view.ShortName}, {Name: "STATUS"},
		{Name: "REASON", Rank: 9, MinWidth: 12}, {Name: "MESSAGE", Wide: true}}, FormatGroup: formatObjectGroup}
	kinds := view.KindNames{}
	for i := range l.Items {
		kinds.Add(l.Items[i].Object.GroupKind().String())
	}
	for i := range l.Items {
		item := &l.Items[i]
		if item.isPolicy {
			policies.Rows = append(policies.Rows, item.policyRows(kinds, o)...)
		} else {
			objects.Rows = append(objects.Rows, item.objectRows()...)
		}
	}
	var t view.Table
	for _, b := range []view.Block{policies, objects} {
		if len(b.Rows) == 0 {
			continue
		}
		shown := o.CountShown(len(b.Rows))
		t.Footer = append(t.Footer, view.FormatMoreLine(len(b.Rows)-shown, "line")...)
		b.Rows = b.Rows[:shown]
		t.Blocks = append(t.Blocks, b)
	}
	if len(l.Items) == 0 {
		t.Footer = append(t.Footer, "no policies")
	}
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}

// FilterNames are the objects, each once; of an audit those that differ.
func (l *StatusList) FilterNames() []string {
	if l.Summary != nil {
		return l.namesOfDiffering()
	}
	return view.UniqueObjectNames(l.Items, func(i *ObjectStatus) *model.Ref { return &i.Object })
}

// policyRows is a policy as one line, or one for every different verdict that its ancestors come
// to.
func (s *ObjectStatus) policyRows(kinds view.KindNames, o view.TableOptions) [][]view.Cell {
	rows := s.conditionRows(kinds, o)
	if s.InForce == nil || len(s.InForce.NotFor) == 0 {
		return rows
	}
	last := len(rows[0]) - 1
	for _, row := range rows {
		note := "not for " + s.InForce.NotFor[0]
		if more := len(s.InForce.NotFor) - 1; more > 0 {
			note += fmt.Sprintf(" (and %d more)", more)
		}
		row[last].Text = strings.TrimPrefix(row[last].Text+"; "+note, "; ")
	}
	return rows
}

// conditionRows are the lines of a policy without what is said of requests that do not meet it.
func (s *ObjectStatus) conditionRows(kinds view.KindNames, o view.TableOptions) [][]view.Cell {
	blank := []view.Cell{{Text: kinds.ShortName(s.Object.GroupKind().String())}, {Text: s.Object.FullName()},
		{Text: s.targetText(o)}, {Text: "-"}, s.InForce.formatCell(), {Text: ""}}
	switch {
	case s.refused:
		blank[3] = view.Cell{Text: "refused", Tone: view.Bad}
		return [][]view.Cell{blank}
	case s.Note != "":
		blank[5].Text = s.Note
		return [][]view.Cell{blank}
	case len(s.Ancestors) == 0 && s.InForce != nil && s.InForce.Wholly+s.InForce.Partly > 0:
		blank[5].Text = "the controller reports nothing about this policy"
		return [][]view.Cell{blank}
	case len(s.Ancestors) == 0 && len(s.Targets) == 0:
		blank[5].Text = "nothing is reported about a policy without references"
		return [][]view.Cell{blank}
	case len(s.Ancestors) == 0:
		blank[5].Text = "nothing is reported: the target does not exist, no Gateway leads to it, or other policies took its place"
		return [][]view.Cell{blank}
	}
	verdicts := s.groupConditions()
	var rows [][]view.Cell
	for _, v := range verdicts {
		row := slices.Clone(blank)
		v.fillRow(row, o)
		if len(verdicts) > 1 {
			row[5].Text = strings.TrimSuffix("for "+strings.Join(v.ancestors, ", ")+": "+row[5].Text, ": ")
		}
		rows = append(rows, row)
	}
	return rows
}

// mostTargets is how many targets of a policy are named in a narrow table.
const mostTargets = 3

// targetText names the targets, as they can be typed.
func (s *ObjectStatus) targetText(o view.TableOptions) string {
	shown := s.Targets
	if !o.Wide && len(shown) > mostTargets {
		shown = shown[:mostTargets]
	}
	var out []string
	for _, t := range shown {
		out = append(out, t.String())
	}
	text := strings.Join(out, ", ")
	if more := len(s.Targets) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return view.OrDash(text)
}

// formatCell says where a policy is in force, with a count of the targets.
func (f *PolicyForce) formatCell() view.Cell {
	if f == nil {
		return view.Cell{Text: "-"}
	}
	count := func(n int) string { return " (" + view.FormatCount(n, f.targetNoun()) + ")" }
	switch f.State {
	case "Everywhere":
		return view.Cell{Text: "yes" + count(f.Targets), Tone: view.Good}
	case "Partly":
		if reached := f.Wholly + f.Partly; reached < f.Targets {
			return view.Cell{Text: fmt.Sprintf("partly (%d of %s)", reached, view.FormatCount(f.Targets,
				f.targetNoun())), Tone: view.Partly}
		}
		return view.Cell{Text: "partly" + count(f.Targets), Tone: view.Partly}
	case "Unknown":
		return view.Cell{Text: "unknown"}
	}
	return view.Cell{Text: "no", Tone: view.Bad}
}

// shortForce is a state without what its counts are of: "partly (2 of 3)" of "partly (2 of 3 rules)".
func shortForce(state string) string {
	if at := strings.LastIndexByte(state, ' '); at > 0 && strings.HasSuffix(state, ")") {
		return state[:at] + ")"
	}
	return state
}

// formatObjectGroup says an object and its parent in a line.
func formatObjectGroup(cells []string) string {
	if cells[1] == "-" {
		return cells[0]
	}
	return cells[0] + " under " + cells[1]
}

// targetNoun says what the targets are, in words.
func (f *PolicyForce) targetNoun() string {
	switch f.Level {
	case "":
		return "target"
	case "backend", "opaque":
		return cmp.Or(f.kind, "backend")
	case "service":
		return "Service"
	case "dataplane":
		return "proxy|proxies"
	case "gatewayClass", "gateway", "listenerSet":
		return strings.ToUpper(f.Level[:1]) + f.Level[1:]
	}
	return f.Level
}

// conditionGroup is a set of conditions that a policy has towards some of its ancestors.
type conditionGroup struct {
	conditions []Condition
	ancestors  []string
}

// groupConditions returns the different conditions of a policy, with the ancestors that have them.
func (s *ObjectStatus) groupConditions() []conditionGroup {
	var out []conditionGroup
	for _, a := range s.Ancestors {
		i := slices.IndexFunc(out, func(v conditionGroup) bool { return slices.Equal(v.conditions, a.Conditions) })
		if i < 0 {
			i = len(out)
			out = append(out, conditionGroup{conditions: a.Conditions})
		}
		if a.AncestorRef != nil {
			out[i].ancestors = append(out[i].ancestors, a.AncestorRef.Ref.String())
		}
	}
	return out
}

// fillRow writes the conditions into the cells of a row: whether the policy is accepted, and as a
// note whatever else is not well.
func (v *conditionGroup) fillRow(row []view.Cell, o view.TableOptions) {
	var notes []string
	for _, c := range v.conditions {
		tone := conditionTone(c)
		if c.Type == string(gatewayv1.PolicyConditionAccepted) || isStateWord(c) {
			row[3] = view.Cell{Text: c.Status, Tone: tone}
			if c.Reason != c.Type && !isStateWord(c) {
				row[3].Text += " " + c.Reason
			}
			if c.Status != "True" || tone == view.Partly || o.Wide {
				notes = append(notes, c.Message)
			}
			continue
		}
		if c.Status == "True" && tone != view.Partly && !o.Wide {
			continue
		}
		note := c.Type
		if c.Status != "True" {
			note += " " + c.Status
		}
		if c.Reason != c.Type {
			note += " " + c.Reason
		}
		notes = append(notes, note+": "+c.Message)
	}
	row[5].Text = strings.Join(notes, "; ")
}

// isStateWord reports whether a condition stands for a word that the implementation writes in the
// place of conditions.
func isStateWord(c Condition) bool {
	return c.Status != "True" && c.Status != "False" && c.Status != "Unknown"
}

// isNoteworthy reports whether a condition that is True says by its type what became of the policy,
// and not that all is well.
func isNoteworthy(conditionType string) bool {
	switch conditionType {
	case "Overridden", "Merged", string(gatewayv1.PolicyReasonConflicted), "Aggregated":
		return true
	}
	return false
}

// conditionTone is how good a condition is. What is not known is neither good nor bad.
func conditionTone(c Condition) view.Tone {
	switch {
	case c.Type != string(gatewayv1.PolicyConditionAccepted) && (strings.Contains(c.Message, "partially") ||
		strings.HasPrefix(c.Reason, "Partially")), isNoteworthy(c.Type) && c.Status == "True":
		return view.Partly
	case c.Status == "True":
		return view.Good
	case c.Status == "False":
		return view.Bad
	}
	return view.Plain
}

// objectRows is another object, one line per condition and parent.
func (s *ObjectStatus) objectRows() [][]view.Cell {
	var rows [][]view.Cell
	for _, a := range s.Ancestors {
		parent := "-"
		if a.AncestorRef != nil {
			parent = a.AncestorRef.Ref.String()
			if a.AncestorRef.Port != 0 {
				parent += fmt.Sprintf(" port %d", a.AncestorRef.Port)
			}
		}
		for _, c := range a.Conditions {
			tone := conditionTone(c)
			rows = append(rows, []view.Cell{{Text: s.Object.String()}, {Text: parent}, {Text: c.Type},
				{Text: c.Status, Tone: tone}, {Text: c.Reason, Tone: tone}, {Text: c.Message}})
		}
	}
	return slices.Clip(rows)
}
