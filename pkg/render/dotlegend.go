package render

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// legendEntry is a sample of something in the picture, with what it means.
type legendEntry struct {
	cells string
	below string // of a line sample: the cell that it stands on
	count int    // how many cells there are
	width int    // about, in points
}

// leastLegend is how wide a legend may be in any case, in points.
const leastLegend = 420

// legend says what colours, lines and signs mean, of those that the picture has. It is not much wider than the picture.
func (d *clusters) legend() string {
	entries := slices.Concat(d.lineEntries(), d.markEntries(), d.kindEntries())
	if len(entries) == 0 {
		return ""
	}
	wide, _ := d.extent()
	var rows []string
	for most := max(leastLegend, wide); len(entries) > 0; {
		n, width := 0, 0
		for n < len(entries) && (n == 0 || width+entries[n].width <= most) {
			width += entries[n].width
			n++
		}
		rows = append(rows, tag("TR", tag("TD", legendRow(entries[:n]), attribute{"ALIGN", "LEFT"})))
		entries = entries[n:]
	}
	for _, line := range folded(d.caption, max(captionWidth, wide*captionWidth/leastLegend)) {
		if line == "" {
			break
		}
		rows = append(rows, tag("TR", tag("TD", d.text(line, d.c.muted, smallSize), attribute{"ALIGN", "LEFT"})))
	}
	return tag("TABLE", strings.Join(rows, ""), attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "1"})
}

// captionWidth is how many characters of the caption stand in a line of leastLegend points.
const captionWidth = 92

// legendRow is a table of entries side by side. A line sample is the lower edge of the upper of two cells.
func legendRow(entries []legendEntry) string {
	var cells, below strings.Builder
	for _, e := range entries {
		cells.WriteString(e.cells)
		below.WriteString(e.below)
	}
	rows := tag("TR", cells.String())
	if below.Len() > 0 {
		rows += tag("TR", below.String())
	}
	return tag("TABLE", rows, attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "2"}, attribute{"CELLPADDING", "2"})
}

// sampled is an entry of one sample and its meaning.
func (d *clusters) sampled(sample string, width int, means string) legendEntry {
	e := legendEntry{cells: sample, width: width}
	e.say(d, means)
	return e
}

// say adds a cell with what the samples before it mean.
func (e *legendEntry) say(d *clusters, means string) {
	e.cells += tall(d.text(means+"\u00a0\u00a0", d.c.muted, smallSize), attribute{"ALIGN", "LEFT"})
	e.width += textWidth(means, smallSize) + 16
}

// tall is a cell as high as a line sample with the cell below it.
func tall(inner string, list ...attribute) string {
	return tag("TD", inner, append(list, attribute{"ROWSPAN", "2"})...)
}

// lineEntries explain lines and the signs before policies, which say the same.
func (d *clusters) lineEntries() []legendEntry {
	var out []legendEntry
	used := d.used()
	for _, state := range drawnStates() {
		s := pens()[state]
		if !used[state] && !d.states[state] {
			continue
		}
		var e legendEntry
		if used[state] {
			e = d.lineSample(s)
		}
		if d.states[state] {
			mark, colour := sign(state)
			e.cells += tall(d.text(mark, colour, nameSize), attribute{"WIDTH", "13"})
			e.width += 17
		}
		means := s.means
		if state == view.EdgeOverridden && d.states[state] {
			means += ", name struck through"
		}
		e.say(d, means)
		out = append(out, e)
	}
	return out
}

// lineSample is a piece of a line.
func (d *clusters) lineSample(s stroke) legendEntry {
	return legendEntry{
		cells: tag("TD", "", attribute{"BORDER", sampleWidth(s)}, attribute{"SIDES", "B"}, attribute{"STYLE", s.style}, attribute{"COLOR", d.value(s.colour)}, attribute{"WIDTH", "30"}, attribute{"CELLPADDING", "0"}),
		below: tag("TD", "", attribute{"CELLPADDING", "0"}), width: 34,
	}
}

func sampleWidth(s stroke) string {
	if s.width == "3" {
		return "3"
	}
	return map[bool]string{true: "2", false: "1"}[s.style != "solid" || s.width > "1"]
}

// kindEntries explain the colours of policies.
func (d *clusters) kindEntries() []legendEntry {
	var out []legendEntry
	for i := range d.kinds {
		h := hues()[i%len(hues())]
		name := clip(d.kindName(i), nameWidth)
		out = append(out, legendEntry{width: textWidth(name, smallSize) + 8,
			cells: tall(d.text(name, h.line, smallSize), attribute{"BGCOLOR", d.value(h.fill)}, attribute{"BORDER", "1"}, attribute{"COLOR", d.value(h.line)})})
	}
	return out
}

// markEntries explain what is neither a line nor a policy: frames, points, counts.
func (d *clusters) markEntries() []legendEntry {
	var out []legendEntry
	has := func(is func(b *box) bool) bool { return slices.ContainsFunc(d.boxes, is) }
	frame := func(means string, list ...attribute) {
		out = append(out, d.sampled(tall("", append(list, attribute{"WIDTH", "18"})...), 22, means))
	}
	if has(func(b *box) bool { return b.entry != nil }) {
		out = append(out, d.sampled(tall(d.text("•", d.c.traffic, nameSize)), 10, "traffic to one object comes together"))
	}
	if len(d.spreads) > 0 {
		h := hues()[d.spreads[0].from.kind%len(hues())]
		e := d.lineSample(stroke{colour: h.line, style: "solid", width: "1"})
		e.cells += tall(d.text("•", h.line, nameSize))
		e.width += 10
		e.say(d, "the lines of a policy part")
		out = append(out, e)
	}
	if has(func(b *box) bool { return missing(b.node) && !b.dangles }) {
		frame("known by name only", attribute{"BORDER", "1"}, attribute{"STYLE", "dashed"}, attribute{"COLOR", d.value(d.c.frame)})
	}
	if has(func(b *box) bool { return b.dangles }) {
		frame("referred to, but missing", attribute{"BORDER", "1"}, attribute{"STYLE", "dashed"}, attribute{"COLOR", d.value(d.c.missing)})
	}
	if has(func(b *box) bool { return b.node.Labels["request"] != "" }) {
		frame("takes the request", attribute{"BORDER", "2"}, attribute{"COLOR", d.value(d.c.request)})
	}
	if has(func(b *box) bool { return b.focus }) || slices.ContainsFunc(d.notes, func(n *note) bool { return n.focus }) {
		frame("in focus", attribute{"BORDER", "3"}, attribute{"COLOR", d.value(d.c.text)})
	}
	if has(func(b *box) bool { return len(b.node.Members) > 0 }) {
		sheet := tag("TABLE", tag("TR", tag("TD", "", attribute{"WIDTH", "14"}, attribute{"HEIGHT", "8"})), attribute{"BORDER", "1"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "0"}, attribute{"COLOR", d.value(d.c.frame)})
		out = append(out, d.sampled(tall(d.stack(sheet)), 26, "several drawn as one"))
	}
	if d.counts() {
		out = append(out, d.sampled(tall(d.text("×2", d.c.muted, smallSize)), 16, "so many drawn as one"))
	}
	if has(func(b *box) bool { return cluster(b.node) != "" }) || slices.ContainsFunc(d.notes, func(n *note) bool { return cluster(n.node) != "" }) {
		frame("namespace", attribute{"BORDER", "1"}, attribute{"STYLE", "rounded"}, attribute{"COLOR", d.value(d.c.groupFrame)}, attribute{"BGCOLOR", d.value(d.c.group)})
	}
	return out
}

// counts reports whether a line or a policy in a row stands for several.
func (d *clusters) counts() bool {
	return slices.ContainsFunc(d.picture.lines, func(l line) bool { return times(l.count) != "" }) || slices.ContainsFunc(d.boxes, func(b *box) bool {
		return slices.ContainsFunc(b.rows, func(r *row) bool {
			for _, chips := range r.chips {
				if slices.ContainsFunc(chips, func(c chip) bool { return times(c.count) != "" }) {
					return true
				}
			}
			return false
		})
	})
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
