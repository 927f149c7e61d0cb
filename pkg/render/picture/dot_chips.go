package picture

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// drawChipCells draws the cells of the policy kinds in a row. The last has the port.
func (d *clusterWriter) drawChipCells(b *targetBox, r *boxRow, kinds []int, out string, rule []attribute) string {
	most, row := 0, ""
	for _, k := range kinds {
		most = max(most, min(len(r.Chips[d.Kinds[k]]), chipsShown))
	}
	last := func(is bool) attribute { return attribute{"PORT", map[bool]string{true: out}[is]} }
	for at, k := range kinds {
		row += formatElement("TD", d.drawChips(r.Chips[d.Kinds[k]], b.Node, most, d.chipWidth(b, k)),
			append([]attribute{last(at == len(kinds)-1),
				{"BGCOLOR", d.colorValue(kindColors()[k%len(kindColors())].fill)}, {"CELLPADDING", "2"}}, rule...)...)
	}
	return row
}

// chipWidth is how wide the names in the column of a policy kind are, in points, or else the name
// of the kind.
func (p *picture) chipWidth(b *targetBox, k int) int {
	const room = 2
	widest := textWidth(clipText(p.kindName(k), nameWidth), smallSize) - signWidth + room
	for _, r := range b.Rows {
		for _, c := range r.Chips[p.Kinds[k]] {
			widest = max(widest, textWidth(c.FormatLabel(b.Node)+c.deviationMark(), smallSize))
		}
	}
	return widest + room
}

// The height of a line of chips and the width of its sign, in points.
const (
	chipHeight = 15
	signWidth  = 13
)

// drawChips lists policies, one a line: a sign for what became of it, and the name. Room for most
// lines is taken, so that Graphviz, which stretches tables, has nothing to stretch.
func (d *clusterWriter) drawChips(list []policyChip, at *graph.GraphNode, most, width int) string {
	if len(list) == 0 {
		return ""
	}
	var rows strings.Builder
	pad := ""
	if free := (most - min(len(list), chipsShown)) * chipHeight / 2; free > 0 {
		pad = formatElement("TR", formatElement("TD", "", attribute{"HEIGHT", strconv.Itoa(free)},
			attribute{"COLSPAN", "2"}, attribute{"CELLPADDING", "0"}))
	}
	rows.WriteString(pad)
	for i, c := range list {
		if i == chipsShown-1 && len(list) > chipsShown {
			rows.WriteString(formatElement("TR", formatElement("TD", "")+formatElement("TD",
				d.formatText(fmt.Sprintf("and %d more", len(list)-i), d.colors.muted, smallSize), attribute{"ALIGN",
					"LEFT"})))
			break
		}
		mark, colour := StateSign(c.State)
		label := d.formatText(c.FormatLabel(at), d.colors.text, smallSize)
		if c.State == graph.EdgeOverridden {
			label = formatElement("S", d.formatText(c.FormatLabel(at), d.colors.muted, smallSize))
		} else if c.State == graph.EdgeConditionFalse || c.State == graph.EdgeBypassed {
			label = d.formatText(c.FormatLabel(at), d.colors.muted, smallSize)
		}
		label += d.formatText(c.deviationMark(), d.colors.overridden, nameSize)
		rows.WriteString(formatElement("TR", formatElement("TD", d.formatText(mark, colour, nameSize),
			attribute{"WIDTH", strconv.Itoa(signWidth)}, attribute{"HEIGHT", strconv.Itoa(chipHeight)})+
			formatElement("TD", label, attribute{"ALIGN", "LEFT"}, attribute{"WIDTH", strconv.Itoa(width)})))
	}
	rows.WriteString(pad)
	return formatElement("TABLE", rows.String(), attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"},
		attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "0"})
}

// FormatLabel is the name of the policy, with its namespace where that differs from the namespace
// of the object.
func (c policyChip) FormatLabel(at *graph.GraphNode) string {
	name := c.note.Node.Ref.Name
	if c.note.Node.Ref.Namespace != at.Ref.Namespace {
		name = c.note.Node.Ref.FullName()
	}
	if len(c.note.Node.Members) > 0 {
		name = memberTitle(c.note.Node)
	}
	return strings.TrimSpace(clipText(name, nameWidth) + " " + formatCount(c.count))
}

// deviationSign is the sign for what a proxy does otherwise than predicted, behind what it is
// about.
const deviationSign = "≠"

// deviationMark is the sign behind the name of a policy of which a proxy does something else; ""
// for others.
func (c policyChip) deviationMark() string {
	if c.differs {
		return "\u00a0" + deviationSign // browsers drop plain spaces at the end of a text
	}
	return ""
}

// textWidth is about how wide a text is in the font of the picture, in points, and not less.
func textWidth(s, size string) int {
	points, err := strconv.Atoi(size)
	if err != nil {
		return 0
	}
	thousandths := 0
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijlI'|", r):
			thousandths += 230
		case strings.ContainsRune("ft.,:;!/[] ", r):
			thousandths += 280
		case strings.ContainsRune("r()-", r):
			thousandths += 335
		case strings.ContainsRune("cksvxyzJ", r):
			thousandths += 500
		case strings.ContainsRune("mMW@%", r):
			thousandths += 900
		case r >= 'A' && r <= 'Z', r == 'w':
			thousandths += 725
		case r < 0x2000:
			thousandths += 560
		default:
			thousandths += 1000
		}
	}
	return (thousandths*points + 999) / 1000
}
