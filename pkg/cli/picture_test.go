package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestPictureOnTerminal holds that no PNG is written to a terminal.
func TestPictureOnTerminal(t *testing.T) {
	var out, said bytes.Buffer
	s := Streams{In: strings.NewReader(""), Out: &out, Err: &said, OutIsTTY: true, LookupEnv: func(string) (string,
		bool) {
		return "", false
	}}
	code := App{}.Run(t.Context(), []string{"graph", "-f", "../../testdata/demo", "-o", "png"}, s)
	if code != ExitUsage || out.Len() > 0 ||
		said.String() != "error: a PNG cannot be shown on a terminal\nhint: redirect it to a file, or add --open\n" {
		t.Errorf("%d %q %q", code, out.String(), said.String())
	}
}
