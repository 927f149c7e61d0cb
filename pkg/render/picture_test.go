package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestPicture holds that pictures are drawn of the DOT text, and that the text is what remains when
// they cannot be.
func TestPicture(t *testing.T) {
	var dot bytes.Buffer
	if err := Write(&dot, graphFixture(), Options{Format: DOT}); err != nil {
		t.Fatal(err)
	}
	var given []byte
	draw := func(format string, text []byte) ([]byte, error) {
		given = text
		return []byte("drawn as " + format), nil
	}
	var out bytes.Buffer
	if err := Write(&out, graphFixture(), Options{Format: PNG, Draw: draw}); err != nil ||
		out.String() != "drawn as png" || !bytes.Equal(given, dot.Bytes()) {
		t.Errorf("%q %v of\n%s", out.String(), err, given)
	}
	for name, failing := range map[string]Drawer{
		"nothing here draws": nil,
		"it broke":           func(string, []byte) ([]byte, error) { return nil, errors.New("it broke") },
	} {
		var out bytes.Buffer
		err := Write(&out, graphFixture(), Options{Format: SVG, Draw: failing})
		var drawing *DrawError
		if !errors.As(err, &drawing) || !strings.HasSuffix(err.Error(), name) ||
			!bytes.Equal(out.Bytes(), dot.Bytes()) {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}
