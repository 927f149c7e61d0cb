package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// auditTable shows what is not reported as predicted; wide also what was left out of the
// comparison, and who agrees.
func (l *StatusList) auditTable(o view.TableOptions) view.Table {
	b := view.Block{Columns: []view.Column{{Name: "OBJECT", Rank: 5, MinWidth: 20, Group: true},
		{Name: "TOWARDS", Rank: 7, MinWidth: 12, Shorten: view.WithoutKind}, {Name: "CONDITION", Rank: 6, MinWidth: 12, Shorten: view.ShortName},
		{Name: "DIFFERENCE", Rank: 3, MinWidth: 12},
		{Name: "PREDICTED", Wide: true}, {Name: "REPORTED", Wide: true}, {Name: "WHAT IT IS", Rank: 9,
			MinWidth: 24, Wrap: true, Below: true}}}
	silent := l.silentControllers(o)
	for _, c := range silent {
		b.Rows = append(b.Rows, c.buildRow())
	}
	for i := range l.Items {
		b.Rows = append(b.Rows, l.Items[i].auditRows(o, silent)...)
	}
	var t view.Table
	if len(b.Rows) > 0 {
		shown := o.CountShown(len(b.Rows))
		t.Footer = view.FormatMoreLine(len(b.Rows)-shown, "line")
		b.Rows = b.Rows[:shown]
		t.Blocks = []view.Block{b}
	}
	t.Footer = append(t.Footer, l.Summary.formatSummary(o))
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}

// formatSummary says the counts in a line.
func (s *AuditSummary) formatSummary(o view.TableOptions) string {
	if s.Objects == 0 {
		return "no objects to audit"
	}
	if s.Agree+s.Differ == 0 {
		out := fmt.Sprintf("nothing was compared: %s", view.FormatCount(s.Objects, "object"))
		if !o.Wide {
			out += " (-o wide says why)"
		}
		return out
	}
	out := fmt.Sprintf("%d of %d objects report what is predicted", s.Agree, s.Objects)
	if s.Agree == s.Objects {
		out = "all objects report what is predicted: " + fmt.Sprint(s.Objects)
	}
	if s.Differ == 1 {
		out += "; 1 differs"
	} else if s.Differ > 1 {
		out += fmt.Sprintf("; %d differ", s.Differ)
	}
	if s.NotCompared > 0 {
		out += fmt.Sprintf("; not compared: %d", s.NotCompared)
		if !o.Wide {
			out += " (-o wide says why)"
		}
	}
	return out
}

// silentController is a controller that reports nothing, with the objects of which it should.
type silentController struct {
	name    string
	objects []model.Ref
}

// silentControllers returns the controllers of which nothing is reported on several objects: they
// have one line each, but where all lines are wanted.
func (l *StatusList) silentControllers(o view.TableOptions) []silentController {
	if o.Wide {
		return nil
	}
	var out []silentController
	for i := range l.Items {
		for _, d := range l.Items[i].Differences {
			if d.silent == "" {
				continue
			}
			at := slices.IndexFunc(out, func(c silentController) bool { return c.name == d.silent })
			if at < 0 {
				at = len(out)
				out = append(out, silentController{name: d.silent})
			}
			if object := l.Items[i].Object; !slices.Contains(out[at].objects, object) {
				out[at].objects = append(out[at].objects, object)
			}
		}
	}
	return slices.DeleteFunc(out, func(c silentController) bool { return len(c.objects) < 2 })
}

// row is the line of a controller.
func (c *silentController) buildRow() []view.Cell {
	what := fmt.Sprintf("controller %s reports nothing: is it running, and does it know the kinds? (such as %s; "+
		"-o wide lists all)", c.name, c.objects[0])
	dash := view.Cell{Text: "-"}
	return []view.Cell{{Text: view.FormatCount(len(c.objects), "object")}, dash, dash,
		{Text: string(status.Missing), Tone: view.Bad}, dash, dash, {Text: what}}
}

// auditRows are the lines of an object, without those that silent controllers have.
func (s *ObjectStatus) auditRows(o view.TableOptions, silent []silentController) [][]view.Cell {
	var rows [][]view.Cell
	for i := range s.Differences {
		if slices.ContainsFunc(silent, func(c silentController) bool { return c.name == s.Differences[i].silent }) {
			continue
		}
		rows = append(rows, s.auditRow(&s.Differences[i], view.Bad))
	}
	if !o.Wide {
		return rows
	}
	for i := range s.Remarks {
		rows = append(rows, s.auditRow(&s.Remarks[i], view.Plain))
	}
	if len(rows) == 0 {
		words := "reported as predicted"
		if s.Verdict != string(status.Agrees) {
			words = "not compared: nothing comparable is predicted"
		}
		rows = append(rows, s.auditRow(&Difference{Kind: "-", Message: words}, view.Plain))
	}
	return rows
}

func (s *ObjectStatus) auditRow(d *Difference, tone view.Tone) []view.Cell {
	towards, condition := "-", "-"
	if d.AncestorRef != nil {
		towards = d.AncestorRef.Ref.String()
		if d.AncestorRef.Port != 0 {
			towards += fmt.Sprintf(" port %d", d.AncestorRef.Port)
		}
	}
	if d.Type != "" {
		condition = d.Type
	}
	return []view.Cell{{Text: s.Object.String()}, {Text: towards}, {Text: condition},
		{Text: d.Kind, Tone: tone}, {Text: d.Predicted.formatReason()}, {Text: d.Reported.formatReason(),
			Tone: tone}, {Text: d.Message}}
}

// formatReason is one side of a difference in a cell.
func (s *StatusReason) formatReason() string {
	if s == nil {
		return "-"
	}
	return strings.TrimSpace(s.Status + " " + s.Reason)
}

// findDiffering returns the objects that do not report what is predicted.
func (l *StatusList) findDiffering() []ObjectStatus {
	var out []ObjectStatus
	for i := range l.Items {
		if l.Items[i].Verdict == string(status.Differs) {
			out = append(out, l.Items[i])
		}
	}
	return out
}

// namesOfDiffering returns the names of the objects that differ, each once.
func (l *StatusList) namesOfDiffering() []string {
	return view.UniqueObjectNames(l.findDiffering(), func(i *ObjectStatus) *model.Ref { return &i.Object })
}
