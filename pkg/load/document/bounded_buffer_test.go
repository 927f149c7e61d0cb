package document

import (
	"io"
	"strings"
	"testing"
)

// TestBoundedBuffer: the limit holds however the buffer is written to.
func TestBoundedBuffer(t *testing.T) {
	for name, write := range map[string]func(io.Writer, string) error{
		"written": func(w io.Writer, s string) error { _, err := io.WriteString(w, s); return err },
		"copied": func(w io.Writer, s string) error {
			_, err := io.Copy(w, io.MultiReader(strings.NewReader(s)))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBoundedBuffer(10)
			if err := write(b, "0123456789"); err != nil || b.IsExceeded() || b.String() != "0123456789" {
				t.Errorf("within: %v, %q", err, b.String())
			}
			if err := write(b, "x"); err == nil || !b.IsExceeded() || len(b.Bytes()) != 10 {
				t.Errorf("beyond: %v, %q", err, b.Bytes())
			}
		})
	}
}
