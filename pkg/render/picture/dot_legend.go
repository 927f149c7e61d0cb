package picture

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// legendEntry is a sample of something in the picture, with what it means: a piece of a line and a
// sign or a frame, or one of the two.
type legendEntry struct {
	line    *lineStyle
	sign    string // a cell
	meaning string
	color   themeColor // of the meaning
}

// The widths of the parts of an entry, in points, and how wide a legend may be in any case.
const (
	lineSample  = 30
	signSample  = 22
	leastLegend = 420
)

// captionWidth is how many characters of the caption stand in a line of leastLegend points.
const captionWidth = 92

// drawLegend says what colours, lines and signs mean, of those that the picture has. It is not much
// wider than the picture.
func (d *clusterWriter) drawLegend() string {
	entries := slices.Concat(d.lineEntries(), d.markEntries(), d.kindEntries())
	if len(entries) == 0 && len(d.asked) == 0 {
		return ""
	}
	wide, _ := d.estimateSize()
	wide = max(wide, leastLegend)
	widest := 1
	for _, e := range entries {
		widest = max(widest, lineSample+signSample+textWidth(e.meaning, smallSize)+16)
	}
	across := max(min(wide/widest, len(entries)), 1)
	down := (len(entries) + across - 1) / across
	var rows strings.Builder
	for y := range down { // column by column, so that what belongs together stands together
		var upper, lower strings.Builder
		for x := range across {
			if at := x*down + y; at < len(entries) {
				up, low := d.drawLegendCells(entries[at])
				upper.WriteString(up)
				lower.WriteString(low)
			}
		}
		rows.WriteString(formatElement("TR", upper.String()) + formatElement("TR", lower.String()))
	}
	for _, line := range d.foldCaption(entries, down) {
		rows.WriteString(formatElement("TR", formatElement("TD", d.formatText(line, d.colors.muted, smallSize),
			attribute{"COLSPAN", strconv.Itoa(3 * across)}, attribute{"ALIGN", "LEFT"})))
	}
	return formatElement("TABLE", rows.String(), attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"},
		attribute{"CELLSPACING", "2"}, attribute{"CELLPADDING", "2"})
}

// foldCaption returns the lines below the columns of a legend, of so many entries each. They are as
// wide as the columns, or they would stretch them.
func (d *clusterWriter) foldCaption(entries []legendEntry, down int) []string {
	if len(d.asked) == 0 && d.caption == "" {
		return nil
	}
	columns := 0
	for at := 0; at < len(entries); at += down {
		column := 0
		for _, e := range entries[at:min(at+down, len(entries))] {
			column = max(column, textWidth(e.meaning, smallSize))
		}
		columns += lineSample + signSample + column
	}
	if columns == 0 {
		columns = leastLegend
	}
	width := columns * captionWidth / leastLegend
	var out []string
	for _, said := range d.asked {
		out = append(out, textwidth.WrapWords(said, width)...)
	}
	if d.caption != "" {
		out = append(out, foldList(d.caption, width)...)
	}
	return out
}

// drawLegendCells draws the cells of an entry in the upper and the lower of two rows: a line sample
// is the edge between them.
func (d *clusterWriter) drawLegendCells(e legendEntry) (upper, lower string) {
	width, none := attribute{"WIDTH", strconv.Itoa(lineSample)}, attribute{"CELLPADDING", "0"}
	if e.line == nil {
		upper = formatElement("TD", "", width, none)
	} else {
		upper = formatElement("TD", "", attribute{"BORDER", sampleWidth(*e.line)}, attribute{"SIDES", "B"},
			attribute{"STYLE", e.line.style}, attribute{"COLOR", d.colorValue(e.line.colour)}, width, none)
	}
	if e.sign == "" {
		e.sign = formatTallCell("")
	}
	return upper + e.sign + formatTallCell(d.formatText(e.meaning+"\u00a0\u00a0", e.color, smallSize),
		attribute{"ALIGN", "LEFT"}), formatElement("TD", "", none)
}

// formatTallCell is a cell of two rows.
func formatTallCell(inner string, list ...attribute) string {
	return formatElement("TD", inner, append(list, attribute{"ROWSPAN", "2"})...)
}

func sampleWidth(s lineStyle) string {
	if s.width == "3" {
		return "3"
	}
	return map[bool]string{true: "2", false: "1"}[s.style != "solid" || s.width > "1"]
}

// lineEntries explain lines and the signs before policies, which say the same.
func (d *clusterWriter) lineEntries() []legendEntry {
	var out []legendEntry
	used := d.usedStates()
	for _, state := range listStates() {
		s := lineStyles()[state]
		if !used[state] && !d.states[state] {
			continue
		}
		e := legendEntry{meaning: d.describeState(state, s), color: d.colors.muted}
		if used[state] {
			e.line = &s
		}
		if d.states[state] {
			mark, colour := StateSign(state)
			e.sign = formatTallCell(d.formatText(mark, colour, nameSize), attribute{"WIDTH", "13"})
		}
		if state == graph.EdgeOverridden && d.states[state] {
			e.meaning += ", name struck through"
		}
		out = append(out, e)
	}
	return out
}

// kindEntries explain the colours of policies.
func (d *clusterWriter) kindEntries() []legendEntry {
	var out []legendEntry
	for i := range d.Kinds {
		h := kindColors()[i%len(kindColors())]
		out = append(out, legendEntry{sign: d.drawFrameSample(attribute{"BORDER", "1"},
			attribute{"COLOR", d.colorValue(h.line)}, attribute{"BGCOLOR", d.colorValue(h.fill)}), meaning: clipText(
			d.kindName(i), nameWidth), color: h.line})
	}
	return out
}

// drawFrameSample draws a sample of a frame.
func (d *clusterWriter) drawFrameSample(list ...attribute) string {
	return formatTallCell("", append(list, attribute{"WIDTH", "18"})...)
}

// markEntries explain what is neither a line nor a policy: frames, points, counts.
func (d *clusterWriter) markEntries() []legendEntry {
	var out []legendEntry
	add := func(sign, means string) {
		out = append(out, legendEntry{sign: sign, meaning: means, color: d.colors.muted})
	}
	has := func(is func(b *targetBox) bool) bool { return slices.ContainsFunc(d.Boxes, is) }
	any := func(is func(n *policyNote) bool) bool { return slices.ContainsFunc(d.notes, is) }
	if has(func(b *targetBox) bool { return b.entry != nil }) {
		add(formatTallCell(d.formatText("•", d.colors.traffic, nameSize)), "traffic joins")
	}
	if len(d.branches) > 0 {
		h := kindColors()[d.branches[0].from.kind%len(kindColors())]
		out = append(out, legendEntry{line: &lineStyle{colour: h.line, style: "solid", width: "1"},
			sign: formatTallCell(d.formatText("•", h.line, nameSize)), meaning: "to where the lines of a policy part",
			color: d.colors.muted})
	}
	if d.differs {
		add(formatTallCell(d.formatText(deviationSign, d.colors.overridden, nameSize)), deviationMeaning)
	}
	if has(func(b *targetBox) bool { return isMissing(b.Node) && !b.dangles }) {
		add(d.drawFrameSample(attribute{"BORDER", "1"}, attribute{"STYLE", "dashed"},
			attribute{"COLOR", d.colorValue(d.colors.frame)}), "known by name only")
	}
	if has(func(b *targetBox) bool { return b.dangles }) {
		add(d.drawFrameSample(attribute{"BORDER", "1"}, attribute{"STYLE", "dashed"},
			attribute{"COLOR", d.colorValue(d.colors.missing)}), "referred to, but missing")
	}
	hasVerdict := func(v point.Verdict) bool {
		return has(func(b *targetBox) bool { return b.Node.Labels[graph.LabelVerdict] == string(v) })
	}
	if hasVerdict(point.Denied) {
		add(d.drawFrameSample(attribute{"BORDER", "3"}, attribute{"COLOR", d.colorValue(d.colors.overridden)}),
			"denies the request")
	}
	if hasVerdict(point.Depends) {
		add(d.drawFrameSample(attribute{"BORDER", "2"}, attribute{"COLOR", d.colorValue(d.colors.partial)}),
			"may deny the request")
	}
	if has(func(b *targetBox) bool { return b.Node.Labels["request"] != "" }) {
		add(d.drawFrameSample(attribute{"BORDER", "2"}, attribute{"COLOR", d.colorValue(d.colors.request)}),
			d.describeTaker(has(func(b *targetBox) bool { return b.Node.IsPoint() })))
	}
	if has(func(b *targetBox) bool { return b.focus }) || any(func(n *policyNote) bool { return n.focus }) {
		add(d.drawFrameSample(attribute{"BORDER", "3"}, attribute{"COLOR", d.colorValue(d.colors.text)}), "in focus")
	}
	if has(func(b *targetBox) bool { return len(b.Node.Members) > 0 }) {
		sheet := formatElement("TABLE", formatElement("TR", formatElement("TD", "", attribute{"WIDTH", "12"},
			attribute{"HEIGHT", "7"})), attribute{"BORDER", "1"}, attribute{"CELLBORDER", "0"}, attribute{
			"CELLSPACING", "0"}, attribute{"CELLPADDING", "0"}, attribute{"COLOR", d.colorValue(d.colors.frame)})
		add(formatTallCell(d.stackTable(sheet)), "several drawn as one")
	}
	if d.hasCounts() {
		add(formatTallCell(d.formatText("×2", d.colors.muted, smallSize)), "so many drawn as one")
	}
	if has(func(b *targetBox) bool { return FrameOf(b.Node) != "" }) ||
		any(func(n *policyNote) bool { return FrameOf(n.Node) != "" }) {
		add(d.drawFrameSample(attribute{"BORDER", "1"}, attribute{"STYLE", "rounded"},
			attribute{"COLOR", d.colorValue(d.colors.groupFrame)}, attribute{"BGCOLOR",
				d.colorValue(d.colors.group)}), "namespace")
	}
	return out
}

// describeTaker says what the frame of what a request passes means.
func (d *clusterWriter) describeTaker(points bool) string {
	switch {
	case len(d.asked) > 0:
		return "takes such requests"
	case points:
		return "takes the request, or lets it go on"
	}
	return "takes the request"
}

// deviationMeaning says what the sign is for, of a policy, a line, or what a proxy says at a
// target.
const deviationMeaning = "a proxy does otherwise than predicted"

// hasCounts reports whether a line or a policy in a row stands for several.
func (d *clusterWriter) hasCounts() bool {
	return slices.ContainsFunc(d.picture.Edges, func(l pictureEdge) bool { return formatCount(l.count) != "" }) ||
		slices.ContainsFunc(d.Boxes, func(b *targetBox) bool {
			return slices.ContainsFunc(b.Rows, func(r *boxRow) bool {
				for _, chips := range r.Chips {
					if slices.ContainsFunc(chips, func(c policyChip) bool { return formatCount(c.count) != "" }) {
						return true
					}
				}
				return false
			})
		})
}

// usedStates returns the states of the lines in the picture.
func (d *clusterWriter) usedStates() map[string]bool {
	out := map[string]bool{}
	for _, l := range d.picture.Edges {
		for state, s := range lineStyles() {
			out[state] = out[state] || findLineStyle(l.State, l.Kind) == s
		}
	}
	return out
}
