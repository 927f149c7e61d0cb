package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// SVGOptions say what becomes of a picture that Graphviz drew.
type SVGOptions struct {
	Theme Theme // the one that the DOT was written for; ThemeAuto follows what the reader prefers
	// what the picture shows, for those who cannot see it; "" is "Policies and what they are
	// attached to"
	Title   string
	NoStyle bool // leave the styles out: the page has its own (DarkCSS)
}

// svgClass is the class of the root element.
const svgClass = "dopolicy-graph"

// CleanSVG is a picture that Graphviz drew, written anew: the elements and attributes that draw,
// links to places in the same document, titles that people can read, and our own styles. Nothing
// else of raw comes through. It returns an error if raw is no SVG.
func CleanSVG(raw []byte, o SVGOptions) ([]byte, error) {
	root, err := readSVG(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the picture: %w", err)
	}
	if o.Title == "" {
		o.Title = "Policies and what they are attached to"
	}
	c := svgCleaner{options: o, ids: map[string]bool{}}
	var out bytes.Buffer
	w := elementWriter{&out}
	frame := c.cleanRoot(root)
	if c.hasLinks { // the parts of an image cannot be reached
		frame.attrs[slices.IndexFunc(frame.attrs, func(a attribute) bool { return a.name == "role" })].value = "group"
	}
	if frame.getAttribute("viewBox") == "" {
		return nil, errors.New("reading the picture: it has no size")
	}
	w.writeElement(0, frame)
	return out.Bytes(), nil
}

// svgElement is an element of an SVG, with its text if it has nothing else.
type svgElement struct {
	name     string
	attrs    []attribute
	children []*svgElement
	text     string
	parent   *svgElement
}

func (e *svgElement) getAttribute(name string) string {
	for _, a := range e.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// setAttribute gives e an attribute, in the place of the one of that name.
func (e *svgElement) setAttribute(name, value string) {
	e.attrs = slices.DeleteFunc(e.attrs, func(a attribute) bool { return a.name == name })
	if value != "" {
		e.attrs = append(e.attrs, attribute{name, value})
	}
}

// maxSVGDepth is how deep elements may stand in each other; Graphviz needs seven.
const maxSVGDepth = 64

// The namespaces that elements and attributes of an SVG may have.
const (
	SvgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
)

// readSVG reads the tree of elements. Comments, instructions and declarations are passed over;
// entities of a document's own are errors.
func readSVG(raw []byte) (*svgElement, error) {
	d := xml.NewDecoder(bytes.NewReader(raw))
	d.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("its characters are in %q, not UTF-8", escape.Escape(charset))
	}
	var root, at *svgElement
	for depth := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			e := &svgElement{name: t.Name.Local, parent: at}
			if t.Name.Space != "" && t.Name.Space != SvgSpace {
				e.name = "" // an element that we do not draw
			}
			for _, a := range t.Attr {
				if a.Name.Space == "" || a.Name.Space == xlinkSpace {
					e.attrs = append(e.attrs, attribute{a.Name.Local, a.Value})
				}
			}
			if depth++; depth > maxSVGDepth {
				return nil, errors.New("its elements stand too deep in each other")
			}
			switch {
			case at != nil:
				at.children = append(at.children, e)
			case root != nil || e.name != "svg":
				return nil, fmt.Errorf("it is <%s>, not <svg>", escape.Escape(t.Name.Local))
			default:
				root = e
			}
			at = e
		case xml.EndElement:
			at = at.parent
			depth--
		case xml.CharData:
			if at != nil {
				at.text += string(t)
			}
		}
	}
	if root == nil {
		return nil, errors.New("there is none")
	}
	return root, nil
}

// elementWriter writes elements, one a line.
type elementWriter struct{ *bytes.Buffer }

func (w elementWriter) writeElement(indent int, e *svgElement) {
	w.WriteString(strings.Repeat(" ", indent) + "<" + e.name)
	for _, a := range e.attrs {
		w.WriteString(" " + a.name + `="`)
		w.writeText(a.value)
		w.WriteByte('"')
	}
	switch {
	case len(e.children) > 0:
		w.WriteString(">\n")
		for _, child := range e.children {
			w.writeElement(indent+1, child)
		}
		w.WriteString(strings.Repeat(" ", indent) + "</" + e.name + ">\n")
	case e.name == "style":
		w.WriteString(">\n" + e.text + "</style>\n")
	case e.text != "":
		w.WriteByte('>')
		w.writeText(e.text)
		w.WriteString("</" + e.name + ">\n")
	default:
		w.WriteString("/>\n")
	}
}

// writeText writes s so that it is text, in an attribute as well.
func (w elementWriter) writeText(s string) {
	w.WriteString(escape.EscapeMarkup(s))
}
