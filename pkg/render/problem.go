package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// How much of one sort of problem is shown: so many lines of a code, and so many objects with the same trouble.
const (
	mostOfKind = 20
	mostAlike  = 5
	mostTold   = 3 // of a kind, beside an answer; of more only the first is told, with their number
)

// ProblemOptions say which problems are written, and how.
type ProblemOptions struct {
	Verbose bool // also notes: problems of severity info. That a policy or a route is not reached is always said
	Color   bool
	ASCII   bool
	Width   int // columns of the terminal; 0: any

	// Rest is where to find what is left out. Not "": where there are many of a kind they are one line with a count.
	Rest string
}

// Problems writes problems for people, in the order given: what is wrong, where, and what to do about it. Objects with the same trouble
// share an entry, and what is too much of one kind is counted. The caller passes them as a view holds them: sorted, each once.
func Problems(w io.Writer, problems []model.Problem, o ProblemOptions) error {
	out := bufio.NewWriter(w)
	p := printer{w: out, style: style{color: o.Color, ascii: o.ASCII}, width: o.Width}
	left := false
	for _, kind := range problemKinds(problems, o) {
		various := kind[0].Code == model.NotEvaluated // each for a reason of its own
		if o.Rest != "" && len(kind) > mostTold && !various {
			left = true
			p.sum(kind)
			continue
		}
		p.problemKind(kind)
	}
	if left {
		p.hint(o.Rest)
	}
	return out.Flush()
}

// trouble is one thing that is wrong, with every object that has it.
type trouble struct {
	model.Problem
	also []model.Problem
}

// problemKinds groups problems by severity and code, and within these by message.
func problemKinds(problems []model.Problem, o ProblemOptions) [][]trouble {
	type kind struct {
		severity model.Severity
		code     model.Code
	}
	type text struct {
		kind
		message, hint string
	}
	var out [][]trouble
	kinds, texts := map[kind]int{}, map[text]int{}
	for _, p := range together(problems) {
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
			out[at][i].also = append(out[at][i].also, p)
			continue
		}
		texts[same] = len(out[at])
		out[at] = append(out[at], trouble{Problem: p})
	}
	return out
}

// problemKind writes the problems of one code. A hint that several in a row have stands once, behind the last.
func (p printer) problemKind(all []trouble) {
	shown := all[:min(len(all), mostOfKind)]
	for i := range shown {
		t := &shown[i]
		p.tell(t.Severity, t.sentence())
		if also := t.others(); also != "" {
			p.labelled("  also:", view.Plain, also)
		}
		if t.Hint != "" && (i == len(shown)-1 || shown[i+1].Hint != t.Hint) {
			p.hint(t.Hint)
		}
	}
	if rest := len(all) - len(shown); rest > 0 {
		p.tell(all[0].Severity, fmt.Sprintf("… and %d more of this kind (%s)", rest, all[0].Code))
	}
}

// tell writes how bad it is, and what it is.
func (p printer) tell(s model.Severity, text string) {
	switch s {
	case model.Error:
		p.labelled("error:", view.Bad, text)
	case model.Warning:
		p.labelled("warning:", view.Partly, text)
	default:
		p.labelled("note:", view.Dim, text)
	}
}

// hint writes what to do.
func (p printer) hint(text string) { p.labelled("hint:", view.Plain, text) }

// labelled writes a text behind a label; what does not fit into the terminal goes below, indented.
func (p printer) labelled(label string, tone view.Tone, text string) {
	p.write(p.style.paint(label, tone) + " ")
	lines := []string{p.style.text(text)}
	if p.width > 0 {
		lines = wrapWords(lines[0], max(p.width-columns(label)-1, 1))
	}
	for i, line := range lines {
		if i > 0 {
			p.write("  ")
		}
		p.line(line)
	}
}

func (p printer) write(s string) { _, _ = p.w.WriteString(s) }

// sentence is where, what object and what is wrong with it.
func (t *trouble) sentence() string {
	var parts []string
	if t.Severity == model.Warning && t.Incomplete() {
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

// others names the other objects with the same trouble.
func (t *trouble) others() string {
	var names []string
	for _, p := range t.also[:min(len(t.also), mostAlike)] {
		names = append(names, whereAndWhat(p))
	}
	if rest := len(t.also) - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("… and %d more", rest))
	}
	return strings.Join(names, ", ")
}

// whereAndWhat is the object of a problem with its place.
func whereAndWhat(p model.Problem) string {
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
