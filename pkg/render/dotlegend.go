package render

import (
	"strconv"
	"strings"
)

// legend says what colours, lines and signs mean, of those that the picture has.
func (d *clusters) legend() string {
	var cells, below []string
	cell := func(s string, list ...attribute) {
		cells = append(cells, tag("TD", s, append(list, attribute{"ROWSPAN", "2"})...))
	}
	name := func(s string) { cell(d.text(s+"\u00a0\u00a0", d.c.muted, smallSize), attribute{"ALIGN", "LEFT"}) }
	used := d.used()
	for _, state := range drawnStates() {
		s := pens()[state]
		if !used[state] && !d.states[state] {
			continue
		}
		if used[state] {
			cells = append(cells, tag("TD", "", attribute{"BORDER", sampleWidth(s)}, attribute{"SIDES", "B"}, attribute{"STYLE", s.style}, attribute{"COLOR", d.value(s.colour)}, attribute{"WIDTH", "30"}, attribute{"CELLPADDING", "0"}))
			below = append(below, tag("TD", "", attribute{"CELLPADDING", "0"}))
		}
		if d.states[state] {
			mark, colour := sign(state)
			cell(d.text(mark, colour, nameSize), attribute{"WIDTH", "13"})
		}
		name(s.means)
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
	if d.caption != "" {
		rows += tag("TR", tag("TD", d.text(d.caption, d.c.muted, smallSize), attribute{"COLSPAN", strconv.Itoa(len(cells))}))
	}
	return tag("TABLE", rows, attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "2"}, attribute{"CELLPADDING", "2"})
}

func sampleWidth(s stroke) string {
	if s.width == "3" {
		return "3"
	}
	return map[bool]string{true: "2", false: "1"}[s.style != "solid" || s.width > "1"]
}

// used are the states of the lines in the picture.
func (d *clusters) used() map[string]bool {
	out := map[string]bool{}
	for _, l := range d.picture.lines {
		for state, s := range pens() {
			out[state] = out[state] || strokeOf(l.state, l.kind) == s
		}
	}
	return out
}
