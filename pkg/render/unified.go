package render

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// textsView is a view of changes, each of which is two texts.
type textsView interface {
	Headline() []string
	Texts() []view.DiffText
}

// writeUnified writes every change as a unified diff of the effective specs. Where settings come from stands in comments of both texts; what
// a change is and where it happens, in comments before it.
func writeUnified(w *bufio.Writer, v textsView) error {
	comment(w, strings.Join(v.Headline(), " "))
	for _, t := range v.Texts() {
		_ = w.WriteByte('\n')
		comment(w, t.Title)
		for _, target := range t.Targets {
			comment(w, "  "+target)
		}
		text, err := unified(t)
		if err != nil {
			return err
		}
		_, _ = w.Write(text)
	}
	return nil
}

func comment(w *bufio.Writer, text string) {
	_, _ = w.WriteString("# " + strings.TrimRight(Escape(text), " ") + "\n")
}

// unified is one change as a unified diff.
func unified(t view.DiffText) ([]byte, error) {
	before, err := sideText(t.Before)
	if err != nil {
		return nil, err
	}
	after, err := sideText(t.After)
	if err != nil {
		return nil, err
	}
	text := diff.Diff("before", before, "after", after)
	if at := bytes.IndexByte(text, '\n'); at >= 0 { // "diff before after"
		text = text[at+1:]
	}
	return text, nil
}

// sideText is one side: where the settings come from, and the spec.
func sideText(s view.DiffSide) ([]byte, error) {
	var out []byte
	for _, note := range s.Notes {
		out = append(append(append(out, "# "...), Escape(note)...), '\n')
	}
	if s.Spec == nil {
		return out, nil
	}
	return yamlText(out, s.Spec)
}
