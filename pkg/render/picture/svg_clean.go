package picture

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// svgShapes returns the elements that draw, with their attributes in the order in which they are
// written. The attributes of painting are common to all.
func svgShapes() map[string][]string {
	return map[string][]string{
		"g":        {"id", "class", "transform"},
		"a":        {"href"},
		"path":     {"d"},
		"polygon":  {"points"},
		"polyline": {"points"},
		"ellipse":  {"cx", "cy", "rx", "ry"},
		"text": {"x", "y", "text-anchor", "font-size", "font-weight", "font-style", "text-decoration",
			"textLength", "lengthAdjust"},
		"tspan": {"x", "y", "dx", "dy", "font-size", "font-weight", "font-style", "text-decoration"},
	}
}

// paintAttributes returns the attributes of how shapes are painted.
func paintAttributes() []string {
	return []string{"fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"}
}

// fontStack are fonts as wide as the one that the drawing was made for.
const fontStack = "Arial, Helvetica, 'Liberation Sans', Arimo, sans-serif"

// svgCleaner makes a picture of what Graphviz wrote.
type svgCleaner struct {
	options  SVGOptions
	ids      map[string]bool
	hasLinks bool // the picture has links
}

// cleanRoot returns the whole picture.
func (c *svgCleaner) cleanRoot(e *svgElement) *svgElement {
	out := &svgElement{name: "svg"}
	for _, name := range []string{"width", "height", "viewBox"} {
		if v := e.getAttribute(name); v != "" && strings.Trim(v, "0123456789.- pt") == "" {
			out.setAttribute(name, v)
		}
	}
	out.attrs = append([]attribute{{"xmlns", SvgSpace}, {"class", svgClass}, {"role", "img"},
		{"aria-label", c.options.Title}, {"font-family", fontStack}}, out.attrs...)
	out.children = append(out.children, &svgElement{name: "title", text: c.options.Title})
	if c.options.Theme != ThemeLight && c.options.Theme != ThemeDark && !c.options.NoStyle {
		out.children = append(out.children, &svgElement{name: "style", text: "svg." + svgClass +
			"{color-scheme:light dark}\n" +
			"@media screen and (prefers-color-scheme:dark){\n" + DarkCSS("svg."+svgClass) + "}\n"})
	}
	out.children = append(out.children, c.cleanChildren(e)...)
	return out
}

// cleanChildren returns the cleaned children of e.
func (c *svgCleaner) cleanChildren(e *svgElement) []*svgElement {
	var out []*svgElement
	for _, child := range e.children {
		out = append(out, c.cleanElement(child)...)
	}
	return out
}

// cleanElement is what becomes of one element: nothing, itself, or what is in it.
func (c *svgCleaner) cleanElement(e *svgElement) []*svgElement {
	own, known := svgShapes()[e.name]
	if !known {
		return nil
	}
	switch e.name {
	case "a":
		return c.cleanAnchor(e)
	case "g":
		return c.cleanGroup(e)
	}
	out := &svgElement{name: e.name}
	c.copyAttributes(out, e, append(slices.Clone(own), paintAttributes()...))
	if e.name == "text" || e.name == "tspan" {
		return c.cleanText(e, out)
	}
	return []*svgElement{out}
}

// cleanGroup is a group with its title. Those that Graphviz puts around its links are not needed.
func (c *svgCleaner) cleanGroup(e *svgElement) []*svgElement {
	children := c.cleanChildren(e)
	if strings.HasPrefix(e.getAttribute("id"), "a_") {
		return children
	}
	out := &svgElement{name: "g"}
	c.copyAttributes(out, e, svgShapes()["g"])
	if class := e.getAttribute("class"); class == "graph" { // the titles of the whole picture and of its name are ours
		children = slices.DeleteFunc(children, func(x *svgElement) bool { return x.name == "title" })
	} else if title := titleFromName(e); title != "" &&
		!slices.ContainsFunc(children, func(x *svgElement) bool { return x.name == "title" || x.name == "a" }) {
		children = append([]*svgElement{{name: "title", text: title}}, children...)
	}
	slices.SortStableFunc(children, func(a, b *svgElement) int { // a title stands first
		return map[bool]int{true: 0, false: 1}[a.name == "title"] - map[bool]int{true: 0, false: 1}[b.name == "title"]
	})
	out.children = children
	return []*svgElement{out}
}

// titleFromName is the name that Graphviz knows a group by, as people write it: the reference of a
// node.
func titleFromName(e *svgElement) string {
	for _, child := range e.children {
		if child.name != "title" {
			continue
		}
		name, err := url.PathUnescape(child.text)
		if err != nil {
			name = child.text
		}
		kind, rest, found := strings.Cut(name, "/")
		if !found || strings.Contains(name, "->") {
			return ""
		}
		kind, _, _ = strings.Cut(kind, ".")
		return strings.ToLower(kind) + "/" + strings.Replace(rest, "#", "/", 1)
	}
	return ""
}

// cleanAnchor is a link to a place in the document, or else only the title that it carries.
func (c *svgCleaner) cleanAnchor(e *svgElement) []*svgElement {
	children := c.cleanChildren(e)
	if title := strings.TrimSpace(e.getAttribute("title")); title != "" {
		children = append([]*svgElement{{name: "title", text: title}}, children...)
	}
	to := e.getAttribute("href")
	if !strings.HasPrefix(to, "#") {
		return children
	}
	c.hasLinks = true
	out := &svgElement{name: "a", children: children}
	out.setAttribute("href", to)
	return []*svgElement{out}
}

// copyAttributes copies those that are named and harmless.
func (c *svgCleaner) copyAttributes(out, in *svgElement, names []string) {
	for _, name := range names {
		v := in.getAttribute(name)
		switch {
		case v == "" || name == "id" && !c.isFreshID(v):
			continue
		case name == "fill" || name == "stroke":
			v = c.cleanColor(v)
		case name != "id" && strings.ContainsAny(v, "\\;<>&:"), strings.Contains(strings.ToLower(v), "url("):
			continue
		}
		if name == "stroke-dasharray" && out.name != "polygon" { // the frames of what is missing are dashed as they are
			v = c.dashPattern(in.getAttribute("stroke"), v)
		}
		out.setAttribute(name, v)
	}
}

// isFreshID reports whether an id is one of ours and not given yet.
func (c *svgCleaner) isFreshID(id string) bool {
	fresh := (strings.HasPrefix(id, "n-") || strings.HasPrefix(id, "e-")) && strings.Trim(id, idLetters) == "" &&
		!c.ids[id]
	c.ids[id] = true
	return fresh
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:"

// cleanColor is a colour of the palette; the two that Graphviz names by itself are those of text
// and ground.
func (c *svgCleaner) cleanColor(v string) string {
	p := newPalette()
	switch {
	case v == "black":
		return p.text.valueIn(c.options.Theme)
	case v == "white":
		return p.ground.valueIn(c.options.Theme)
	case len(v) == len("#rrggbb") && v[0] == '#' && strings.Trim(v[1:], "0123456789abcdef") == "":
		return v
	}
	return "none"
}

// dashPattern is the pattern of a dashed line: Graphviz has two, and states have one each.
func (c *svgCleaner) dashPattern(stroke, v string) string {
	for _, s := range lineStyles() {
		if s.dashes != "" && stroke == s.colour.valueIn(c.options.Theme) {
			return s.dashes
		}
	}
	return v
}

// cleanText is a text. One that is a sign becomes a shape, so that it looks the same in every font.
func (c *svgCleaner) cleanText(e, out *svgElement) []*svgElement {
	if out.getAttribute("fill") == "" {
		out.setAttribute("fill", newPalette().text.valueIn(c.options.Theme))
	}
	out.children = c.cleanChildren(e)
	out.text = e.text
	x, errX := strconv.ParseFloat(out.getAttribute("x"), 64)
	y, errY := strconv.ParseFloat(out.getAttribute("y"), 64)
	size, errSize := strconv.ParseFloat(out.getAttribute("font-size"), 64)
	mark := strings.TrimSpace(e.text)
	if errX != nil || errY != nil || errSize != nil || !slices.Contains([]string{"●", "◐", "○", "⊘", "◌"}, mark) {
		return []*svgElement{out}
	}
	// Graphviz takes the sign for as wide as a blank, and puts the middle of that where the middle
	// of the sign should be.
	const blank, above, radius = 0.14, 0.36, 0.29
	return drawSign(mark, x+blank*size, y-above*size, radius*size, out.getAttribute("fill"))
}

// drawSign draws a sign: a disc, a ring, a ring whose left half is filled, one that is struck through,
// or one of dashes.
func drawSign(mark string, x, y, r float64, colour string) []*svgElement {
	n := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	ring := &svgElement{name: "ellipse", attrs: []attribute{{"cx", n(x)}, {"cy", n(y)}, {"rx", n(r)}, {"ry", n(r)},
		{"fill", "none"}, {"stroke", colour}, {"stroke-width", "1.1"}}}
	switch mark {
	case "●":
		ring.setAttribute("fill", colour)
		return []*svgElement{ring}
	case "◐":
		half := fmt.Sprintf("M%s,%sA%s,%s 0 0 0 %s,%sZ", n(x), n(y-r), n(r), n(r), n(x), n(y+r))
		return []*svgElement{ring, {name: "path", attrs: []attribute{{"d", half}, {"fill", colour}}}}
	case "◌":
		ring.setAttribute("stroke-dasharray", "1.4 1.2")
	case "⊘":
		d := r * math.Sqrt2 / 2
		bar := fmt.Sprintf("M%s,%sL%s,%s", n(x-d), n(y+d), n(x+d), n(y-d))
		return []*svgElement{ring, {name: "path", attrs: []attribute{{"d", bar}, {"fill", "none"}, {"stroke", colour},
			{"stroke-width", "1.1"}}}}
	}
	return []*svgElement{ring}
}
