package raster

import (
	"cmp"
	"encoding/xml"
	"image/color"
	"strconv"
	"strings"

	"github.com/go-fonts/liberation/liberationmonobold"
	"github.com/go-fonts/liberation/liberationmonoregular"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansitalic"
	"github.com/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/colornames"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
)

// text paints a line of text and reads up to its end. The fonts have the widths that Graphviz
// reckons with: Liberation Sans those of Helvetica, Liberation Mono those of Courier.
func (p *painter) text(d *xml.Decoder, a map[string]string) error {
	line, err := content(d)
	if err != nil || line == "" {
		return err
	}
	size := number(cmp.Or(a["font-size"], "14")) * p.scale
	if !(size > 0) {
		return nil
	}
	face, err := p.face(fontOf(a), size)
	if err != nil {
		return err
	}
	ink, seen := paintOf(a["fill"], "black", a["fill-opacity"])
	if !seen {
		return nil
	}
	p.SetFontFace(face)
	p.SetColor(ink)
	if p.sign(line, p.x(number(a["x"])), p.y(number(a["y"])), size) {
		return nil
	}
	wide, _ := p.MeasureString(line)
	x, y := p.x(number(a["x"])), p.y(number(a["y"]))
	switch a["text-anchor"] {
	case "middle":
		x -= wide / 2
	case "end":
		x -= wide
	}
	p.DrawString(line, x, y)
	if strings.Contains(a["text-decoration"], "line-through") {
		p.DrawRectangle(x, y-size*0.32, wide, size*0.06)
		p.Fill()
	}
	return nil
}

// faces are the fonts that were read. Reading one takes longer than painting a line with it.
type faces struct{ known map[sized]font.Face }

// face is a font at a size, in pixels or whatever else lengths are wanted in.
func (f *faces) face(at style, size float64) (font.Face, error) {
	key := sized{at, size}
	if face, known := f.known[key]; known {
		return face, nil
	}
	read, err := opentype.Parse(fonts(at))
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(read, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		return nil, err
	}
	if f.known == nil {
		f.known = map[sized]font.Face{}
	}
	f.known[key] = face
	return face, nil
}

// style tells the fonts apart.
type style struct{ mono, bold, italic bool }

// sized is a font at a size.
type sized struct {
	style
	size float64
}

// content is the text up to the end of the element that was opened.
func content(d *xml.Decoder) (string, error) {
	var out strings.Builder
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			out.Write(t)
		}
	}
	return strings.ReplaceAll(out.String(), "\u00a0", " "), nil
}

// fontOf is the font that a text asks for.
func fontOf(a map[string]string) style {
	family := strings.ToLower(a["font-family"])
	return style{mono: strings.Contains(family, "cour") || strings.Contains(family, "mono"),
		bold: a["font-weight"] == "bold", italic: a["font-style"] == "italic"}
}

// fonts are the fonts that there are; text that is bold or of one width is never slanted.
func fonts(s style) []byte {
	switch {
	case s.mono && s.bold:
		return liberationmonobold.TTF
	case s.mono:
		return liberationmonoregular.TTF
	case s.bold:
		return liberationsansbold.TTF
	case s.italic:
		return liberationsansitalic.TTF
	}
	return liberationsansregular.TTF
}

// colorOf is a colour as Graphviz writes it: a name, or #rrggbb. known is false for none, and for
// what is no colour.
func colorOf(name string) (c color.RGBA, known bool) {
	if hex, ok := strings.CutPrefix(name, "#"); ok {
		v, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 6 {
			return c, false
		}
		return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}, true
	}
	c, known = colornames.Map[strings.ToLower(name)]
	return c, known
}
