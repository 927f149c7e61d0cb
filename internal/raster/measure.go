package raster

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/image/font"
)

// Measured is svg, as Graphviz writes it, with the width that every text has in the font that the
// drawing was made for. A program that shows the SVG without that font has to fit its own into the
// same width.
func Measured(svg []byte) ([]byte, error) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	faces := &faces{}
	var out bytes.Buffer
	copied := int64(0)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("measuring the texts of the drawing: %w", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "text" {
			continue
		}
		at := d.InputOffset() - 1 // before the bracket that ends the tag
		line, err := content(d)
		if err != nil {
			return nil, fmt.Errorf("measuring the texts of the drawing: %w", err)
		}
		wide, err := faces.width(attributes(e), line)
		if err != nil {
			return nil, err
		}
		if wide == 0 || svg[at] != '>' {
			continue
		}
		out.Write(svg[copied:at])
		fmt.Fprintf(&out, ` textLength="%.2f" lengthAdjust="spacingAndGlyphs"`, wide)
		copied = at
	}
	out.Write(svg[copied:])
	return out.Bytes(), nil
}

// width is how wide a line is, in points: 0 for one that nothing is seen of, and for a sign, which
// is as wide as fonts have it.
func (f *faces) width(a map[string]string, line string) (float64, error) {
	size := number(cmp.Or(a["font-size"], "14"))
	if mark := strings.TrimSpace(line); mark == "" || !(size > 0) || slices.Contains(signs(), mark) {
		return 0, nil
	}
	face, err := f.face(fontOf(a), size)
	if err != nil {
		return 0, err
	}
	return float64(font.MeasureString(face, line)) / 64, nil
}
