package render

import (
	"bufio"
	"encoding/json"
	"io"
)

// WriteObjects writes objects as documents of YAML or, with lines, each as JSON on a line of its
// own.
func WriteObjects[T any](w io.Writer, objects []T, lines bool) error {
	out := bufio.NewWriter(w)
	if lines {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		for _, o := range objects {
			if err := e.Encode(o); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	var text []byte
	for i, o := range objects {
		text = text[:0]
		if i > 0 {
			text = append(text, "---\n"...)
		}
		var err error
		if text, err = appendYAML(text, o); err != nil {
			return err
		}
		_, _ = out.Write(text)
	}
	return out.Flush()
}
