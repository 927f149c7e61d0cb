package render

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	viewdiff "github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// diffView is a view of changes, each of which is two texts.
type diffView interface {
	Headline() []string
	Texts() []viewdiff.DiffText
}

// writeUnified writes every change as a unified diff of the effective specs. Where settings come
// from stands in comments of both texts; what a change is and where it happens, in comments before
// it.
func writeUnified(w *bufio.Writer, v diffView) error {
	writeComment(w, strings.Join(v.Headline(), " "))
	for _, t := range v.Texts() {
		_ = w.WriteByte('\n')
		writeComment(w, t.Title)
		for _, target := range t.Targets {
			writeComment(w, "  "+target)
		}
		text, err := formatUnified(t)
		if err != nil {
			return err
		}
		_, _ = w.Write(text)
	}
	return nil
}

func writeComment(w *bufio.Writer, text string) {
	_, _ = w.WriteString("# " + strings.TrimRight(escape.Escape(text), " ") + "\n")
}

// formatUnified is one change as a unified diff.
func formatUnified(t viewdiff.DiffText) ([]byte, error) {
	before, err := formatSide(t.Before)
	if err != nil {
		return nil, err
	}
	after, err := formatSide(t.After)
	if err != nil {
		return nil, err
	}
	text := diff.Diff("before", before, "after", after)
	if at := bytes.IndexByte(text, '\n'); at >= 0 { // "diff before after"
		text = text[at+1:]
	}
	return text, nil
}

// formatSide is one side: where the settings come from, and the spec.
func formatSide(s viewdiff.DiffSide) ([]byte, error) {
	var out []byte
	for _, note := range s.Notes {
		out = append(append(append(out, "# "...), escape.Escape(note)...), '\n')
	}
	if s.Spec == nil {
		return out, nil
	}
	return appendYAML(out, s.Spec)
}
