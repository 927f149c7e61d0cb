// Package raster paints the SVG that Graphviz writes as a PNG.
//
// The Graphviz library's own PNG has neither strokes nor dashes, and the strokes are what tells one
// edge from another. What Graphviz writes is a small part of SVG: one transformed group, polygons,
// polylines, paths of straight lines and cubic curves, ellipses, and lines of text. Nothing else is
// painted.
package raster

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/fogleman/gg"
)

// density is how many pixels a point of the drawing is wide and high, so that text is sharp on
// today's screens.
const density = 2

// maxPixels is how large a picture may become. A larger drawing gets fewer pixels for each point.
const maxPixels = 64 << 20

// PNG paints svg, as Graphviz writes it, and writes the picture to w.
func PNG(w io.Writer, svg []byte) error {
	picture, err := paint(svg)
	if err != nil {
		return fmt.Errorf("painting the drawing: %w", err)
	}
	return gg.NewContextForImage(picture).EncodePNG(w)
}

// paint paints svg at the density, or below it if the picture would be too large.
func paint(svg []byte) (image.Image, error) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	d.Strict = true
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var p *painter
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "svg" {
			if p, err = newPainter(attributes(e)); err != nil {
				return nil, err
			}
			continue
		}
		if p == nil {
			return nil, fmt.Errorf("it starts with %s, not with svg", e.Name.Local)
		}
		if err := p.element(d, e); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name.Local, err)
		}
	}
	if p == nil {
		return nil, errors.New("there is none")
	}
	return p.Image(), nil
}

// painter paints in pixels what is given in points.
type painter struct {
	*gg.Context
	scale      float64 // pixels per point
	dx, dy     float64 // of the group that everything is in, in points
	left, top  float64 // of the part that is seen
	translated bool
	faces
}

// newPainter has the size that the root element names.
func newPainter(root map[string]string) (*painter, error) {
	box := numbers(root["viewBox"])
	if len(box) != 4 || !(box[2] > 0) || !(box[3] > 0) || math.IsInf(box[2]*box[3], 0) {
		return nil, fmt.Errorf("the view box %q is none", root["viewBox"])
	}
	scale := min(density, math.Sqrt(maxPixels/(box[2]*box[3])))
	wide, high := math.Ceil(box[2]*scale), math.Ceil(box[3]*scale)
	if !(wide*high < 2*maxPixels) {
		return nil, fmt.Errorf("%g by %g points are too large", box[2], box[3])
	}
	return &painter{Context: gg.NewContext(int(wide), int(high)), scale: scale, left: box[0], top: box[1]}, nil
}

// x and y place a point of the drawing in the picture.
func (p *painter) x(v float64) float64 { return (v + p.dx - p.left) * p.scale }
func (p *painter) y(v float64) float64 { return (v + p.dy - p.top) * p.scale }

// element paints one element. Groups within the first do not move what is in them.
func (p *painter) element(d *xml.Decoder, e xml.StartElement) error {
	a := attributes(e)
	switch e.Name.Local {
	case "g":
		if _, at, found := strings.Cut(a["transform"], "translate("); found && !p.translated {
			if v := numbers(strings.TrimSuffix(at, ")")); len(v) == 2 {
				p.dx, p.dy, p.translated = v[0], v[1], true
			}
		}
	case "polygon", "polyline":
		v := numbers(a["points"])
		for i := 0; i+1 < len(v); i += 2 {
			p.LineTo(p.x(v[i]), p.y(v[i+1]))
		}
		if e.Name.Local == "polygon" {
			p.ClosePath()
		}
		p.ink(a)
	case "path":
		if err := p.path(a["d"]); err != nil {
			return err
		}
		p.ink(a)
	case "ellipse":
		cx, cy, rx, ry := number(a["cx"]), number(a["cy"]), number(a["rx"]), number(a["ry"])
		p.DrawEllipse(p.x(cx), p.y(cy), rx*p.scale, ry*p.scale)
		p.ink(a)
	case "text":
		return p.text(d, a)
	}
	return nil
}

// path follows the commands of a path, of which Graphviz writes M, L, C and Z, with absolute
// places.
func (p *painter) path(d string) error {
	for len(d) > 0 {
		command := d[0]
		end := strings.IndexAny(d[1:], "MLCZmlczHVSQTAhvsqta") + 1
		if end == 0 {
			end = len(d)
		}
		v := numbers(d[1:end])
		d = d[end:]
		switch {
		case command == 'M' && len(v) == 2:
			p.MoveTo(p.x(v[0]), p.y(v[1]))
		case command == 'L' && len(v)%2 == 0:
			for i := 0; i < len(v); i += 2 {
				p.LineTo(p.x(v[i]), p.y(v[i+1]))
			}
		case command == 'C' && len(v)%6 == 0:
			for i := 0; i < len(v); i += 6 {
				p.CubicTo(p.x(v[i]), p.y(v[i+1]), p.x(v[i+2]), p.y(v[i+3]), p.x(v[i+4]), p.y(v[i+5]))
			}
		case (command == 'Z' || command == 'z') && len(v) == 0:
			p.ClosePath()
		case command == ' ':
		default:
			return fmt.Errorf("%c with %d numbers is not known", command, len(v))
		}
	}
	return nil
}

// ink fills and strokes what was followed, and forgets it.
func (p *painter) ink(a map[string]string) {
	defer p.ClearPath()
	if fill, ok := paintOf(a["fill"], "black", a["fill-opacity"]); ok {
		p.SetColor(fill)
		p.FillPreserve()
	}
	if stroke, ok := paintOf(a["stroke"], "none", a["stroke-opacity"]); ok {
		width := 1.0
		if v := numbers(a["stroke-width"]); len(v) == 1 {
			width = v[0]
		}
		dashes := numbers(a["stroke-dasharray"])
		for i := range dashes {
			dashes[i] *= p.scale
		}
		p.SetColor(stroke)
		p.SetLineWidth(width * p.scale)
		p.SetLineCapButt()
		p.SetDash(dashes...)
		p.Stroke()
	}
}

func attributes(e xml.StartElement) map[string]string {
	out := make(map[string]string, len(e.Attr))
	for _, a := range e.Attr {
		out[a.Name.Local] = a.Value
	}
	return out
}

// paintOf is a colour with its opacity; ok is false where nothing is painted.
func paintOf(name, otherwise, opacity string) (c color.Color, ok bool) {
	if name == "" {
		name = otherwise
	}
	rgb, known := colorOf(name)
	if !known {
		return nil, false
	}
	alpha := 1.0
	if v := numbers(opacity); len(v) == 1 {
		alpha = min(max(v[0], 0), 1)
	}
	return color.NRGBA{rgb.R, rgb.G, rgb.B, uint8(alpha * 255)}, alpha > 0
}

// numbers reads numbers that are separated by spaces and commas. What is none ends them.
func numbers(text string) []float64 {
	var out []float64
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			break
		}
		out = append(out, v)
	}
	return out
}

// number is the first number of a text, 0 if it has none.
func number(text string) float64 {
	if v := numbers(text); len(v) > 0 {
		return v[0]
	}
	return 0
}
