package render

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// legend says what colours, lines and signs mean, of those that the picture has.
func (d *clusters) legend() string {
	var cells, below []string
	cell := func(s string, list ...attribute) {
		cells = append(cells, tag("TD", s, append(list, attribute{"ROWSPAN", "2"})...))
	}
	name := func(s string) { cell(d.text(s, d.c.muted, smallSize), attribute{"ALIGN", "LEFT"}) }
	for _, s := range d.used() {
		cells = append(cells, tag("TD", "", attribute{"BORDER", sampleWidth(s)}, attribute{"SIDES", "B"}, attribute{"STYLE", s.style}, attribute{"COLOR", d.value(s.colour)}, attribute{"WIDTH", "30"}, attribute{"CELLPADDING", "0"}))
		below = append(below, tag("TD", "", attribute{"CELLPADDING", "0"}))
		name(s.means)
	}
	for _, state := range []string{view.EdgeEffective, "partial", view.EdgeOverridden} {
		if d.states[state] {
			mark, colour := sign(state)
			cell(d.text(mark, colour, nameSize))
			name(pens()[state].means)
		}
	}
	for i := range d.kinds {
		h := hues()[i%len(hues())]
		cell(d.text(clip(d.kindName(i), nameWidth), h.line, smallSize), attribute{"BGCOLOR", d.value(h.fill)}, attribute{"BORDER", "1"}, attribute{"COLOR", d.value(h.line)})
	}
	if len(cells) == 0 {
		return ""
	}
	rows := tag("TR", strings.Join(cells, ""))
	if len(below) > 0 { // a sample is the lower edge of the upper of two cells
		rows += tag("TR", strings.Join(below, ""))
	}
	return tag("TABLE", rows, attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "4"}, attribute{"CELLPADDING", "2"})
}

func sampleWidth(s stroke) string {
	if s.width == "3" {
		return "3"
	}
	return map[bool]string{true: "2", false: "1"}[s.style != "solid" || s.width > "1"]
}

// used are the kinds of lines in the picture, in a fixed order.
func (d *clusters) used() []stroke {
	var out []stroke
	for _, kind := range []string{view.EdgeParent, "taken", view.EdgeEffective, "partial", view.EdgeOverridden, "dangling", view.EdgeTargets} {
		s := pens()[kind]
		if slices.ContainsFunc(d.picture.lines, func(l line) bool { return strokeOf(l.state, l.kind) == s }) {
			out = append(out, s)
		}
	}
	return out
}
