package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// Picture is the drawing of a report's topology as a part of the page. Without one, Missing says why.
type Picture struct {
	Missing string

	markup string
	styles []string // that belong to it
}

// Inline makes a part of the page of an SVG document: the elements and attributes that draw, written anew, so that nothing else can come
// through. Links lead to places in the page. There is an error if the document is no SVG, or does more than to draw.
func Inline(svg []byte) (Picture, error) {
	var out Picture
	var b strings.Builder
	d := xml.NewDecoder(bytes.NewReader(svg))
	d.Strict = true
	for open := []string{}; ; {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF) && len(open) == 0:
			if out.markup = b.String(); !strings.HasPrefix(out.markup, "<svg") {
				return Picture{}, errors.New("reading the picture: it is no SVG")
			}
			return out, nil
		case err != nil:
			return Picture{}, fmt.Errorf("reading the picture: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			switch {
			case name == "style":
				text, err := styleText(d)
				if err != nil {
					return Picture{}, err
				}
				out.styles = append(out.styles, text)
			case t.Name.Space != "" || !slices.Contains(drawnElements(), name):
				return Picture{}, fmt.Errorf("reading the picture: it has an element %q", name)
			default:
				open = append(open, name)
				b.WriteString("<" + name + attributes(t.Attr) + ">")
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != t.Name.Local {
				return Picture{}, fmt.Errorf("reading the picture: %q ends where it does not begin", t.Name.Local)
			}
			open = open[:len(open)-1]
			b.WriteString("</" + t.Name.Local + ">")
		case xml.CharData:
			if len(open) > 0 {
				b.WriteString(html.EscapeString(string(t)))
			}
		}
	}
}

// styleText reads the text of a style element up to its end.
func styleText(d *xml.Decoder) (string, error) {
	var b strings.Builder
	for {
		token, err := d.RawToken()
		if err != nil {
			return "", fmt.Errorf("reading the picture: %w", err)
		}
		switch t := token.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			if text := b.String(); !strings.ContainsAny(text, "<&\\") && !strings.Contains(text, "url(") && !strings.Contains(text, "@import") {
				return strings.ReplaceAll(text, "\r", ""), nil
			}
			return "", errors.New("reading the picture: its style is more than style")
		case xml.StartElement:
			return "", errors.New("reading the picture: its style is more than style")
		}
	}
}

// drawnElements are those that a picture may have.
func drawnElements() []string {
	return []string{"svg", "g", "a", "title", "desc", "defs", "path", "polygon", "polyline", "ellipse", "circle", "rect", "line", "text", "tspan",
		"linearGradient", "stop"}
}

// drawnAttributes are those that an element may have, beside those for assistive technology and links.
func drawnAttributes() []string {
	return []string{"viewBox", "preserveAspectRatio", "width", "height", "class", "d", "points", "cx", "cy", "r", "rx", "ry", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy",
		"transform", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity",
		"font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "text-decoration", "textLength", "lengthAdjust",
		"offset", "stop-color", "role", "tabindex", "aria-label", "aria-hidden", "aria-roledescription"}
}

// attributes writes the attributes that are let through, with a blank before each. Ids are not among them: the page has its own.
func attributes(all []xml.Attr) string {
	var b strings.Builder
	for _, a := range all {
		name := a.Name.Local
		switch {
		case name == "href" && (a.Name.Space == "" || a.Name.Space == "xlink") && strings.HasPrefix(a.Value, "#"):
		case a.Name.Space == "" && slices.Contains(drawnAttributes(), name) && !strings.Contains(a.Value, "url("):
		default:
			continue
		}
		b.WriteString(" " + name + `="` + html.EscapeString(a.Value) + `"`)
	}
	return b.String()
}

// visible is a text whose control and invisible characters can be seen.
func visible(s string) string { return render.Escape(s) }
