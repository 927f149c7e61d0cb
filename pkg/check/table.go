package check

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// maxAlike is how many other objects with the same trouble a table names.
const maxAlike = 4

// similarFindings is a finding with the others that differ in the object only.
type similarFindings struct {
	Finding
	others []Finding
}

// Table is a line for every finding, the worst first, objects with the same trouble together; then
// what follows from it.
func (r *Report) Table(o view.TableOptions) view.Table {
	var rows [][]view.Cell
	shown, notes := r.groupSimilar(o)
	cut := len(shown)
	if o.Limit > 0 {
		cut = min(cut, o.Limit)
	}
	for i := range shown[:cut] {
		rows = append(rows, shown[i].tableRows(o.Wide)...)
		if hint := shown[i].Hint; hint != "" && (i == cut-1 || shown[i+1].Hint != hint) {
			rows = append(rows, newDetailRow("→ "+hint, view.Dim))
		}
	}
	var t view.Table
	if len(rows) > 0 {
		t.Blocks = []view.Block{{Columns: []view.Column{{Name: "SEVERITY", Keep: true},
			{Name: "ID", Rank: 5, MinWidth: 20, Keep: true},
			{Name: "WHERE", Rank: 7, MinWidth: 20, Shorten: path.Base},
			{Name: "OBJECT", Wide: true},
			{Name: "MESSAGE", Rank: 9, MinWidth: 40, Wrap: true, Below: true}}, Rows: rows}}
	}
	if cut < len(shown) {
		t.Footer = append(t.Footer, fmt.Sprintf("… and %d more findings (--limit 0 shows all)", len(shown)-cut))
	}
	t.Footer = append(t.Footer, r.closingLines(notes)...)
	return t
}

// groupSimilar returns the findings that are shown, and how many notes are not.
func (r *Report) groupSimilar(o view.TableOptions) (out []similarFindings, notes int) {
	type text struct {
		severity          model.Severity
		id, message, hint string
		suppressed        bool
	}
	at := map[text]int{}
	items := slices.Clone(r.Items)
	slices.SortStableFunc(items, func(a, b Finding) int { // file by file, as people fix them
		return cmp.Or(a.Severity.Compare(b.Severity), -comparePresence(a.Origin, b.Origin),
			model.ComparePointers(a.Origin, b.Origin, model.Origin.Compare))
	})
	for _, f := range items {
		if f.Severity == model.Info && !o.Wide && !r.verbose && !r.FailOn.isReached(f.Severity) {
			notes++
			continue
		}
		same := text{f.Severity, f.ID, f.messageWithoutObject(), f.Hint, f.Suppressed != nil}
		if i, known := at[same]; known && !o.Wide {
			out[i].others = append(out[i].others, f)
			continue
		}
		at[same] = len(out)
		out = append(out, similarFindings{Finding: f})
	}
	return out, notes
}

// comparePresence puts what is there behind what is not.
func comparePresence[T any](a, b *T) int {
	switch {
	case (a == nil) == (b == nil):
		return 0
	case a == nil:
		return -1
	}
	return 1
}

func (a *similarFindings) tableRows(all bool) [][]view.Cell {
	tone := map[model.Severity]view.Tone{model.Error: view.Bad, model.Warning: view.Partly,
		model.Info: view.Dim}[a.Severity]
	word := string(a.Severity)
	message := a.messageWithObject()
	if all {
		message = a.messageWithoutObject()
	}
	if all && len(a.listing.names) > 0 {
		message = a.listing.formatText(0)
	}
	if s := a.Suppressed; s != nil {
		word, tone = "ignored", view.Dim
		message += " (" + s.Text() + ")"
	}
	rows := [][]view.Cell{{{Text: word, Tone: tone}, {Text: a.ID}, {Text: formatOrigin(a.Origin)},
		{Text: cmp.Or(a.Object(), "-")}, {Text: message}}}
	if len(a.others) == 0 {
		return rows
	}
	var names []string
	for _, f := range a.others[:min(len(a.others), maxAlike)] {
		names = append(names, strings.TrimSpace(cmp.Or(f.Object(), "-")+" "+
			formatParenthesized(formatOrigin(f.Origin))))
	}
	if rest := len(a.others) - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("%d more (-o wide lists them)", rest))
	}
	return append(rows, newDetailRow("also: "+strings.Join(names, ", "), view.Plain))
}

// messageWithoutObject is the message without the object that it begins with, which has a column of
// its own.
func (f *Finding) messageWithoutObject() string {
	if f.Ref == nil {
		return f.Message
	}
	return strings.TrimPrefix(f.Message, f.Ref.String()+" ")
}

// messageWithObject is the message with the object that it is about.
func (f *Finding) messageWithObject() string {
	object := f.Object()
	if object == "" || hasName(f.Message, object) {
		return f.Message
	}
	return object + ": " + f.Message
}

// hasName reports whether a text has a name in it, not one that only begins like it.
func hasName(text, name string) bool {
	for {
		_, rest, found := strings.Cut(text, name)
		if !found {
			return false
		}
		next := strings.ToLower(rest[:min(len(rest), 1)])
		if next == "" || next != "-" && (next < "0" || next > "9") && (next < "a" || next > "z") {
			return true
		}
		text = rest
	}
}

// newDetailRow is a line below a finding, behind its severity.
func newDetailRow(text string, tone view.Tone) []view.Cell {
	return []view.Cell{{}, {Text: text, Tone: tone}}
}

// Text says who asked for a finding not to count.
func (s *Suppression) Text() string {
	if s.Reason == "" {
		return "ignored by " + s.By
	}
	return "ignored by " + s.By + ": " + s.Reason
}

func formatOrigin(o *model.Origin) string {
	if o == nil {
		return "-"
	}
	return o.String()
}

func formatParenthesized(s string) string {
	if s == "-" {
		return ""
	}
	return "(" + s + ")"
}

// Object names what a finding is about: an object, or a whole kind; "" for neither.
func (f *Finding) Object() string {
	switch {
	case f.Ref == nil:
		return ""
	case f.Ref.Name == "*":
		return strings.ToLower(f.Ref.Kind)
	}
	return f.Ref.String()
}

// Counts says in a line what was found in how much.
func (r *Report) Counts() string {
	var counts []string
	add := func(n int, noun string) {
		if n > 0 {
			counts = append(counts, view.FormatCount(n, noun))
		}
	}
	add(r.Summary.Error, "error")
	add(r.Summary.Warning, "warning")
	add(r.Summary.Info, "note")
	if counts == nil {
		counts = []string{"nothing found"}
		if r.Baseline != nil {
			counts[0] = "nothing new found"
		}
	}
	return strings.Join(counts, ", ") + " in " + view.FormatCount(r.Checked, "object") + r.Baseline.formatKnown()
}

// closingLines counts the findings and says what to ask next.
func (r *Report) closingLines(notes int) []string {
	line := r.Counts()
	if notes > 0 {
		line += "; notes are listed by -o wide"
	}
	if n := r.Summary.Suppressed; n > 0 {
		line += fmt.Sprintf("; %d suppressed", n)
		if !slices.ContainsFunc(r.Items, func(f Finding) bool { return f.Suppressed != nil }) {
			line += " (--show-suppressed lists them)"
		}
	}
	out := []string{line}
	if i := slices.IndexFunc(r.Items, r.Failing); i >= 0 {
		if id := r.Items[i].ID; !strings.HasPrefix(id, requirement.CodePrefix) {
			out = append(out, "what an id means, and what to do: kubectl dopolicy check --list "+id)
		}
	}
	return slices.Concat(out, r.Baseline.listGoneLines(), r.UnknownLines(notes > 0))
}

// UnknownLines says what the check could not know: how much, and the first of it, with how to see
// the rest if that is not shown. It is nil if everything is known.
func (r *Report) UnknownLines(hidden bool) []string {
	counted := r.Envelope
	counted.Problems = slices.Clone(r.Problems)
	example := ""
	for i := range counted.Problems {
		p := &counted.Problems[i]
		if p.Code == model.UnrenderedVariable { // which a check counts as other unknown things
			p.Severity, p.Code = model.Warning, model.NotEvaluated
		}
		if example == "" && !p.IsForbiddenList() && p.Severity != model.Error && p.IsIncomplete() {
			example = p.Message
		}
	}
	lines := counted.IncompleteLines()
	if len(lines) > 0 && example != "" && hidden {
		lines[0] += ", such as: " + example + " (-o wide lists them)"
	}
	return lines
}

// FilterNames returns the objects that findings are about, each once, in the form kind.group/name.
func (r *Report) FilterNames() []string {
	refs := make([]*model.Ref, 0, len(r.Items))
	for i := range r.Items {
		if ref := r.Items[i].Ref; ref != nil && ref.Name != "*" {
			refs = append(refs, ref)
		}
		for _, p := range r.Items[i].Objects {
			whole := p.Ref.WithoutSection()
			refs = append(refs, &whole)
		}
	}
	return view.ObjectNames(refs)
}
