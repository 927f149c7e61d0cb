package render

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// shapes are the elements that draw, with their attributes in the order in which they are written. Colours are common to all.
func svgShapes() map[string][]string {
	return map[string][]string{
		"g":        {"id", "class", "transform"},
		"a":        {"href"},
		"path":     {"d"},
		"polygon":  {"points"},
		"polyline": {"points"},
		"ellipse":  {"cx", "cy", "rx", "ry"},
		"text":     {"x", "y", "text-anchor", "font-size", "font-weight", "font-style", "text-decoration", "textLength", "lengthAdjust"},
		"tspan":    {"x", "y", "dx", "dy", "font-size", "font-weight", "font-style", "text-decoration"},
	}
}

// paint are the attributes of how shapes are painted.
func paint() []string {
	return []string{"fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"}
}

// fontStack are fonts as wide as the one that the drawing was made for.
const fontStack = "Arial, Helvetica, 'Liberation Sans', Arimo, sans-serif"

// cleaner makes a picture of what Graphviz wrote.
type cleaner struct {
	o      SVGOptions
	ids    map[string]bool
	linked bool // there is a link
}

// root is the whole picture.
func (c *cleaner) root(e *element) *element {
	out := &element{name: "svg"}
	for _, name := range []string{"width", "height", "viewBox"} {
		if v := e.attribute(name); v != "" && strings.Trim(v, "0123456789.- pt") == "" {
			out.set(name, v)
		}
	}
	out.attrs = append([]attribute{{"xmlns", svgSpace}, {"class", svgClass}, {"role", "img"}, {"aria-label", c.o.Title}, {"font-family", fontStack}}, out.attrs...)
	out.children = append(out.children, &element{name: "title", text: c.o.Title})
	if c.o.Theme != ThemeLight && c.o.Theme != ThemeDark && !c.o.NoStyle {
		out.children = append(out.children, &element{name: "style", text: "svg." + svgClass + "{color-scheme:light dark}\n" +
			"@media screen and (prefers-color-scheme:dark){\n" + DarkCSS("svg."+svgClass) + "}\n"})
	}
	out.children = append(out.children, c.children(e)...)
	return out
}

// children are the cleaned children of e.
func (c *cleaner) children(e *element) []*element {
	var out []*element
	for _, child := range e.children {
		out = append(out, c.element(child)...)
	}
	return out
}

// element is what becomes of one element: nothing, itself, or what is in it.
func (c *cleaner) element(e *element) []*element {
	own, known := svgShapes()[e.name]
	if !known {
		return nil
	}
	switch e.name {
	case "a":
		return c.anchor(e)
	case "g":
		return c.group(e)
	}
	out := &element{name: e.name}
	c.attributes(out, e, append(slices.Clone(own), paint()...))
	if e.name == "text" || e.name == "tspan" {
		return c.text(e, out)
	}
	return []*element{out}
}

// group is a group with its title. Those that Graphviz puts around its links are not needed.
func (c *cleaner) group(e *element) []*element {
	children := c.children(e)
	if strings.HasPrefix(e.attribute("id"), "a_") {
		return children
	}
	out := &element{name: "g"}
	c.attributes(out, e, svgShapes()["g"])
	if class := e.attribute("class"); class == "graph" { // the titles of the whole picture and of its name are ours
		children = slices.DeleteFunc(children, func(x *element) bool { return x.name == "title" })
	} else if title := ownTitle(e); title != "" && !slices.ContainsFunc(children, func(x *element) bool { return x.name == "title" || x.name == "a" }) {
		children = append([]*element{{name: "title", text: title}}, children...)
	}
	slices.SortStableFunc(children, func(a, b *element) int { // a title stands first
		return map[bool]int{true: 0, false: 1}[a.name == "title"] - map[bool]int{true: 0, false: 1}[b.name == "title"]
	})
	out.children = children
	return []*element{out}
}

// ownTitle is the name that Graphviz knows a group by, as people write it: the reference of a node.
func ownTitle(e *element) string {
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
		return kind + " " + strings.Replace(rest, "#", " ", 1)
	}
	return ""
}

// anchor is a link to a place in the document, or else only the title that it carries.
func (c *cleaner) anchor(e *element) []*element {
	children := c.children(e)
	if title := strings.TrimSpace(e.attribute("title")); title != "" {
		children = append([]*element{{name: "title", text: title}}, children...)
	}
	to := e.attribute("href")
	if !strings.HasPrefix(to, "#") {
		return children
	}
	c.linked = true
	out := &element{name: "a", children: children}
	out.set("href", to)
	return []*element{out}
}

// attributes copies those that are named and harmless.
func (c *cleaner) attributes(out, in *element, names []string) {
	for _, name := range names {
		v := in.attribute(name)
		switch {
		case v == "" || name == "id" && !c.freshID(v):
			continue
		case name == "fill" || name == "stroke":
			v = c.colour(v)
		case name != "id" && strings.ContainsAny(v, "\\;<>&:"), strings.Contains(strings.ToLower(v), "url("):
			continue
		}
		if name == "stroke-dasharray" && out.name != "polygon" { // the frames of what is missing are dashed as they are
			v = c.dashes(in.attribute("stroke"), v)
		}
		out.set(name, v)
	}
}

// freshID reports whether an id is one of ours and not given yet.
func (c *cleaner) freshID(id string) bool {
	fresh := (strings.HasPrefix(id, "n-") || strings.HasPrefix(id, "e-")) && strings.Trim(id, idLetters) == "" && !c.ids[id]
	c.ids[id] = true
	return fresh
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:"

// colour is a colour of the palette; the two that Graphviz names by itself are those of text and ground.
func (c *cleaner) colour(v string) string {
	p := colours()
	switch {
	case v == "black":
		return p.text.on(c.o.Theme)
	case v == "white":
		return p.ground.on(c.o.Theme)
	case len(v) == len("#rrggbb") && v[0] == '#' && strings.Trim(v[1:], "0123456789abcdef") == "":
		return v
	}
	return "none"
}

// dashes is the pattern of a dashed line: Graphviz has two, and states have one each.
func (c *cleaner) dashes(stroke, v string) string {
	for _, s := range pens() {
		if s.dashes != "" && stroke == s.colour.on(c.o.Theme) {
			return s.dashes
		}
	}
	return v
}

// text is a text. One that is a sign becomes a shape, so that it looks the same in every font.
func (c *cleaner) text(e, out *element) []*element {
	if out.attribute("fill") == "" {
		out.set("fill", colours().text.on(c.o.Theme))
	}
	out.children = c.children(e)
	out.text = e.text
	x, errX := strconv.ParseFloat(out.attribute("x"), 64)
	y, errY := strconv.ParseFloat(out.attribute("y"), 64)
	size, errSize := strconv.ParseFloat(out.attribute("font-size"), 64)
	mark := strings.TrimSpace(e.text)
	if errX != nil || errY != nil || errSize != nil || !slices.Contains([]string{"●", "◐", "○", "⊘"}, mark) {
		return []*element{out}
	}
	// Graphviz takes the sign for as wide as a blank, and puts the middle of that where the middle of the sign should be.
	const blank, above, radius = 0.14, 0.36, 0.29
	return signShape(mark, x+blank*size, y-above*size, radius*size, out.attribute("fill"))
}

// signShape draws a sign: a disc, a ring, a ring whose left half is filled, or one that is struck through.
func signShape(mark string, x, y, r float64, colour string) []*element {
	n := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	ring := &element{name: "ellipse", attrs: []attribute{{"cx", n(x)}, {"cy", n(y)}, {"rx", n(r)}, {"ry", n(r)}, {"fill", "none"}, {"stroke", colour}, {"stroke-width", "1.1"}}}
	switch mark {
	case "●":
		ring.set("fill", colour)
		return []*element{ring}
	case "◐":
		half := fmt.Sprintf("M%s,%sA%s,%s 0 0 0 %s,%sZ", n(x), n(y-r), n(r), n(r), n(x), n(y+r))
		return []*element{ring, {name: "path", attrs: []attribute{{"d", half}, {"fill", colour}}}}
	case "⊘":
		d := r * math.Sqrt2 / 2
		bar := fmt.Sprintf("M%s,%sL%s,%s", n(x-d), n(y+d), n(x+d), n(y-d))
		return []*element{ring, {name: "path", attrs: []attribute{{"d", bar}, {"fill", "none"}, {"stroke", colour}, {"stroke-width", "1.1"}}}}
	}
	return []*element{ring}
}
