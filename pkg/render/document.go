package render

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
)

// WriteDocument writes an object as JSON whose last fields are answers: head is the object without
// them. They are written one after the other, so that memory does not hold the text of all.
func WriteDocument(to io.Writer, head any, answers iter.Seq2[string, any]) error {
	w := bufio.NewWriterSize(to, 1<<16)
	text, err := newJSONText("").encode(head)
	if err != nil {
		return err
	}
	open, ok := bytes.CutSuffix(text, []byte("\n}\n"))
	if !ok {
		return fmt.Errorf("writing JSON: %T has no fields", head)
	}
	_, _ = w.Write(open)
	for name, answer := range answers {
		fmt.Fprintf(w, ",\n  %q: ", name)
		if err := writeJSONBehind(w, answer, "  "); err != nil {
			return err
		}
	}
	_, _ = w.WriteString("\n}\n")
	return w.Flush()
}
