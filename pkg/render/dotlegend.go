package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// legendEntry is a sample of something in the picture, with what it means: a piece of a line and a sign or a frame, or one of the two.
type legendEntry struct {
	line  *stroke
	sign  string // a cell
	means string
	ink   shade // of the meaning
}

// The widths of the parts of an entry, in points, and how wide a legend may be in any case.
const (
	lineSample  = 30
	signSample  = 22
	leastLegend = 420
)

// captionWidth is how many characters of the caption stand in a line of leastLegend points.
const captionWidth = 92

// legend says what colours, lines and signs mean, of those that the picture has. It is not much wider than the picture.
func (d *clusters) legend() string {
	entries := slices.Concat(d.lineEntries(), d.markEntries(), d.kindEntries())
	if len(entries) == 0 && len(d.asked) == 0 {
		return ""
	}
	wide, _ := d.extent()
	wide = max(wide, leastLegend)
	widest := 1
	for _, e := range entries {
		widest = max(widest, lineSample+signSample+textWidth(e.means, smallSize)+16)
	}
	across := max(min(wide/widest, len(entries)), 1)
	down := (len(entries) + across - 1) / across
	var rows strings.Builder
	for y := range down { // column by column, so that what belongs together stands together
		var upper, lower strings.Builder
		for x := range across {
			if at := x*down + y; at < len(entries) {
				up, low := d.legendCells(entries[at])
				upper.WriteString(up)
				lower.WriteString(low)
			}
		}
		rows.WriteString(tag("TR", upper.String()) + tag("TR", lower.String()))
	}
	for _, line := range d.captionLines(entries, down) {
		rows.WriteString(tag("TR", tag("TD", d.text(line, d.c.muted, smallSize), attribute{"COLSPAN", strconv.Itoa(3 * across)}, attribute{"ALIGN", "LEFT"})))
	}
	return tag("TABLE", rows.String(), attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "2"}, attribute{"CELLPADDING", "2"})
}

// captionLines are the lines below the columns of a legend, of so many entries each. They are as wide as the columns, or they would stretch them.
func (d *clusters) captionLines(entries []legendEntry, down int) []string {
	if len(d.asked) == 0 && d.caption == "" {
		return nil
	}
	columns := 0
	for at := 0; at < len(entries); at += down {
		column := 0
		for _, e := range entries[at:min(at+down, len(entries))] {
			column = max(column, textWidth(e.means, smallSize))
		}
		columns += lineSample + signSample + column
	}
	if columns == 0 {
		columns = leastLegend
	}
	width := columns * captionWidth / leastLegend
	var out []string
	for _, said := range d.asked {
		out = append(out, wrapWords(said, width)...)
	}
	if d.caption != "" {
		out = append(out, folded(d.caption, width)...)
	}
	return out
}

// legendCells are the cells of an entry in the upper and the lower of two rows: a line sample is the edge between them.
func (d *clusters) legendCells(e legendEntry) (upper, lower string) {
	width, none := attribute{"WIDTH", strconv.Itoa(lineSample)}, attribute{"CELLPADDING", "0"}
	if e.line == nil {
		upper = tag("TD", "", width, none)
	} else {
		upper = tag("TD", "", attribute{"BORDER", sampleWidth(*e.line)}, attribute{"SIDES", "B"}, attribute{"STYLE", e.line.style}, attribute{"COLOR", d.value(e.line.colour)}, width, none)
	}
	if e.sign == "" {
		e.sign = tall("")
	}
	return upper + e.sign + tall(d.text(e.means+"\u00a0\u00a0", e.ink, smallSize), attribute{"ALIGN", "LEFT"}), tag("TD", "", none)
}

// tall is a cell of two rows.
func tall(inner string, list ...attribute) string {
	return tag("TD", inner, append(list, attribute{"ROWSPAN", "2"})...)
}

func sampleWidth(s stroke) string {
	if s.width == "3" {
		return "3"
	}
	return map[bool]string{true: "2", false: "1"}[s.style != "solid" || s.width > "1"]
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
		e := legendEntry{means: d.means(state, s), ink: d.c.muted}
		if used[state] {
			e.line = &s
		}
		if d.states[state] {
			mark, colour := sign(state)
			e.sign = tall(d.text(mark, colour, nameSize), attribute{"WIDTH", "13"})
		}
		if state == view.EdgeOverridden && d.states[state] {
			e.means += ", name struck through"
		}
		out = append(out, e)
	}
	return out
}

// kindEntries explain the colours of policies.
func (d *clusters) kindEntries() []legendEntry {
	var out []legendEntry
	for i := range d.kinds {
		h := hues()[i%len(hues())]
		out = append(out, legendEntry{sign: d.frame(attribute{"BORDER", "1"}, attribute{"COLOR", d.value(h.line)}, attribute{"BGCOLOR", d.value(h.fill)}), means: clip(d.kindName(i), nameWidth), ink: h.line})
	}
	return out
}

// frame is a sample of a frame.
func (d *clusters) frame(list ...attribute) string {
	return tall("", append(list, attribute{"WIDTH", "18"})...)
}

// markEntries explain what is neither a line nor a policy: frames, points, counts.
func (d *clusters) markEntries() []legendEntry {
	var out []legendEntry
	add := func(sign, means string) { out = append(out, legendEntry{sign: sign, means: means, ink: d.c.muted}) }
	has := func(is func(b *box) bool) bool { return slices.ContainsFunc(d.boxes, is) }
	any := func(is func(n *note) bool) bool { return slices.ContainsFunc(d.notes, is) }
	if has(func(b *box) bool { return b.entry != nil }) {
		add(tall(d.text("•", d.c.traffic, nameSize)), "traffic to one object comes together")
	}
	if len(d.spreads) > 0 {
		h := hues()[d.spreads[0].from.kind%len(hues())]
		out = append(out, legendEntry{line: &stroke{colour: h.line, style: "solid", width: "1"}, sign: tall(d.text("•", h.line, nameSize)), means: "to where the lines of a policy part", ink: d.c.muted})
	}
	if d.differs {
		add(tall(d.text(differs, d.c.overridden, nameSize)), differsMeans)
	}
	if has(func(b *box) bool { return missing(b.node) && !b.dangles }) {
		add(d.frame(attribute{"BORDER", "1"}, attribute{"STYLE", "dashed"}, attribute{"COLOR", d.value(d.c.frame)}), "known by name only")
	}
	if has(func(b *box) bool { return b.dangles }) {
		add(d.frame(attribute{"BORDER", "1"}, attribute{"STYLE", "dashed"}, attribute{"COLOR", d.value(d.c.missing)}), "referred to, but missing")
	}
	if has(func(b *box) bool { return b.node.Labels["request"] != "" }) {
		add(d.frame(attribute{"BORDER", "2"}, attribute{"COLOR", d.value(d.c.request)}), map[bool]string{true: "takes such requests", false: "takes the request"}[len(d.asked) > 0])
	}
	if has(func(b *box) bool { return b.focus }) || any(func(n *note) bool { return n.focus }) {
		add(d.frame(attribute{"BORDER", "3"}, attribute{"COLOR", d.value(d.c.text)}), "in focus")
	}
	if has(func(b *box) bool { return len(b.node.Members) > 0 }) {
		sheet := tag("TABLE", tag("TR", tag("TD", "", attribute{"WIDTH", "12"}, attribute{"HEIGHT", "7"})), attribute{"BORDER", "1"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "0"}, attribute{"COLOR", d.value(d.c.frame)})
		add(tall(d.stack(sheet)), "several drawn as one")
	}
	if d.counts() {
		add(tall(d.text("×2", d.c.muted, smallSize)), "so many drawn as one")
	}
	if has(func(b *box) bool { return cluster(b.node) != "" }) || any(func(n *note) bool { return cluster(n.node) != "" }) {
		add(d.frame(attribute{"BORDER", "1"}, attribute{"STYLE", "rounded"}, attribute{"COLOR", d.value(d.c.groupFrame)}, attribute{"BGCOLOR", d.value(d.c.group)}), "namespace")
	}
	return out
}

// differsMeans says what the sign is for, of a policy, a line, or what a proxy says at a target.
const differsMeans = "a proxy does otherwise than predicted"

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
