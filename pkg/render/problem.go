package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// How much of one sort of problem is shown: so many lines of a code, and so many objects with the
// same trouble.
const (
	maxPerKind      = 20
	maxAlike        = 5
	maxBesideAnswer = 3 // of a kind, beside an answer; of more only the first is told, with their number
)

// ProblemOptions say which problems are written, and how.
type ProblemOptions struct {
	Verbose bool // also notes: problems of severity info. That a policy or a route is not reached is always said
	Color   bool
	ASCII   bool
	Width   int // columns of the terminal; 0: any

	// Rest is where to find what is left out. Not "": where there are many of a kind they are one
	// line with a count.
	Rest string

	Forbidden Forbidden // how lists that are forbidden are told in one line, unless Verbose
}

// WriteProblems writes problems for people, in the order given: what is wrong, where, and what to
// do about it. Objects with the same trouble share an entry, and problems of which there are many
// are counted. The caller passes them as a view holds them: sorted, each once.
func WriteProblems(w io.Writer, problems []model.Problem, o ProblemOptions) error {
	out := bufio.NewWriter(w)
	p := printer{w: out, style: textStyle{color: o.Color, ascii: o.ASCII}, width: o.Width}
	left := false
	for _, kind := range groupProblems(problems, o) {
		various := kind[0].Code == model.NotEvaluated // their reasons differ
		if o.Rest != "" && len(kind) > maxBesideAnswer && !various {
			left = true
			p.writeSummary(kind)
			continue
		}
		p.writeProblemKind(kind)
	}
	if left {
		p.writeHint(o.Rest)
	}
	return out.Flush()
}

// problemGroup is one thing that is wrong, with every object that has it.
type problemGroup struct {
	model.Problem
	alike []model.Problem
}

// groupProblems groups problems by severity and code, and within these by message.
func groupProblems(problems []model.Problem, o ProblemOptions) [][]problemGroup {
	type kind struct {
		severity model.Severity
		code     model.Code
	}
	type text struct {
		kind
		message, hint string
	}
	var out [][]problemGroup
	kinds, texts := map[kind]int{}, map[text]int{}
	if o.Verbose {
		problems = mergeForbidden(problems)
	} else {
		problems = summarizeForbidden(problems, o.Forbidden)
	}
	for _, p := range problems {
		if p.Severity == model.Info && !o.Verbose && p.Code != model.NotReached {
			continue
		}
		k := kind{p.Severity, p.Code}
		at, known := kinds[k]
		if !known {
			at = len(out)
			kinds[k] = at
			out = append(out, nil)
		}
		same := text{k, p.Message, p.Hint}
		if i, known := texts[same]; known {
			out[at][i].alike = append(out[at][i].alike, p)
			continue
		}
		texts[same] = len(out[at])
		out[at] = append(out[at], problemGroup{Problem: p})
	}
	return out
}

// writeProblemKind writes the problems of one code. A hint that several in a row have stands once,
// behind the last.
func (p printer) writeProblemKind(all []problemGroup) {
	shown := all[:min(len(all), maxPerKind)]
	for i := range shown {
		t := &shown[i]
		p.writeSeverity(t.Severity, t.formatSentence())
		if also := t.formatOthers(); also != "" {
			p.writeLabelled("  also:", view.Plain, also)
		}
		if t.Hint != "" && (i == len(shown)-1 || shown[i+1].Hint != t.Hint) {
			p.writeHint(t.Hint)
		}
	}
	if rest := len(all) - len(shown); rest > 0 {
		p.writeSeverity(all[0].Severity, fmt.Sprintf("… and %d more of this kind (%s)", rest, all[0].Code))
	}
}

// writeSeverity writes how bad it is, and what it is.
func (p printer) writeSeverity(s model.Severity, text string) {
	switch s {
	case model.Error:
		p.writeLabelled("error:", view.Bad, text)
	case model.Warning:
		p.writeLabelled("warning:", view.Partly, text)
	default:
		p.writeLabelled("note:", view.Dim, text)
	}
}

// writeHint writes what to do.
func (p printer) writeHint(text string) { p.writeLabelled("hint:", view.Plain, text) }

// writeLabelled writes a text behind a label; what does not fit into the terminal goes below,
// indented.
func (p printer) writeLabelled(label string, tone view.Tone, text string) {
	p.writeText(p.style.colorText(label, tone) + " ")
	lines := []string{p.style.escapeText(text)}
	if p.width > 0 {
		lines = textwidth.WrapWords(lines[0], max(p.width-textwidth.DisplayWidth(label)-1, 1))
	}
	for i, line := range lines {
		if i > 0 {
			p.writeText("  ")
		}
		p.writeLine(line)
	}
}

func (p printer) writeText(s string) { _, _ = p.w.WriteString(s) }

// formatSentence says where, at what object and what is wrong.
func (t *problemGroup) formatSentence() string {
	var parts []string
	if t.Severity == model.Warning && t.IsIncomplete() {
		parts = append(parts, "incomplete")
	}
	if t.Origin != nil && t.Origin.Cluster == "" {
		parts = append(parts, t.Origin.String())
	}
	if t.Ref != nil && t.Ref.Name != "*" && !strings.Contains(t.Message, t.Ref.String()) {
		parts = append(parts, t.Ref.String())
	}
	return strings.Join(append(parts, t.Message), ": ")
}

// formatOthers names the other objects with the same problem.
func (t *problemGroup) formatOthers() string {
	var names []string
	for _, p := range t.alike[:min(len(t.alike), maxAlike)] {
		names = append(names, formatPlace(p))
	}
	if rest := len(t.alike) - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("… and %d more", rest))
	}
	return strings.Join(names, ", ")
}

// formatPlace is the object of a problem with its place.
func formatPlace(p model.Problem) string {
	var ref, origin string
	if p.Ref != nil {
		ref = p.Ref.String()
	}
	if p.Origin != nil && p.Origin.Cluster == "" {
		origin = p.Origin.String()
	}
	if ref != "" && origin != "" {
		return ref + " (" + origin + ")"
	}
	return cmp.Or(ref, origin, "once more")
}
