package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// chipCells are the cells of the policy kinds in a row. The last has the port.
func (d *clusters) chipCells(b *box, r *row, kinds []int, out string, rule []attribute) string {
	most, row := 0, ""
	for _, k := range kinds {
		most = max(most, min(len(r.chips[d.kinds[k]]), chipsShown))
	}
	last := func(is bool) attribute { return attribute{"PORT", map[bool]string{true: out}[is]} }
	for at, k := range kinds {
		row += tag("TD", d.chips(r.chips[d.kinds[k]], b.node, most, d.chipWidth(b, k)), append([]attribute{last(at == len(kinds)-1), {"BGCOLOR", d.value(hues()[k%len(hues())].fill)}, {"CELLPADDING", "2"}}, rule...)...)
	}
	return row
}

// chipWidth is how wide the names in the column of a policy kind are, in points, or else the name of the kind.
func (p *picture) chipWidth(b *box, k int) int {
	const room = 2
	widest := textWidth(clip(p.kindName(k), nameWidth), smallSize) - signWidth + room
	for _, r := range b.rows {
		for _, c := range r.chips[p.kinds[k]] {
			widest = max(widest, textWidth(c.label(b.node)+c.doubt(), smallSize))
		}
	}
	return widest + room
}

// The height of a line of chips and the width of its sign, in points.
const (
	chipHeight = 15
	signWidth  = 13
)

// chips lists policies, one a line: a sign for what became of it, and the name. Room for most lines is taken, so that Graphviz, which
// stretches tables, has nothing to stretch.
func (d *clusters) chips(list []chip, at *view.GraphNode, most, width int) string {
	if len(list) == 0 {
		return ""
	}
	var rows strings.Builder
	pad := ""
	if free := (most - min(len(list), chipsShown)) * chipHeight / 2; free > 0 {
		pad = tag("TR", tag("TD", "", attribute{"HEIGHT", strconv.Itoa(free)}, attribute{"COLSPAN", "2"}, attribute{"CELLPADDING", "0"}))
	}
	rows.WriteString(pad)
	for i, c := range list {
		if i == chipsShown-1 && len(list) > chipsShown {
			rows.WriteString(tag("TR", tag("TD", "")+tag("TD", d.text(fmt.Sprintf("and %d more", len(list)-i), d.c.muted, smallSize), attribute{"ALIGN", "LEFT"})))
			break
		}
		mark, colour := sign(c.state)
		label := d.text(c.label(at), d.c.text, smallSize)
		if c.state == view.EdgeOverridden {
			label = tag("S", d.text(c.label(at), d.c.muted, smallSize))
		} else if c.state == view.EdgeIdle {
			label = d.text(c.label(at), d.c.muted, smallSize)
		}
		label += d.text(c.doubt(), d.c.overridden, nameSize)
		rows.WriteString(tag("TR", tag("TD", d.text(mark, colour, nameSize), attribute{"WIDTH", strconv.Itoa(signWidth)}, attribute{"HEIGHT", strconv.Itoa(chipHeight)})+tag("TD", label, attribute{"ALIGN", "LEFT"}, attribute{"WIDTH", strconv.Itoa(width)})))
	}
	rows.WriteString(pad)
	return tag("TABLE", rows.String(), attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "0"})
}

// label is the name of the policy, with its namespace where that is another one than that of the object.
func (c chip) label(at *view.GraphNode) string {
	name := c.note.node.Ref.Name
	if c.note.node.Ref.Namespace != at.Ref.Namespace {
		name = c.note.node.Ref.FullName()
	}
	if len(c.note.node.Members) > 0 {
		name = memberTitle(c.note.node)
	}
	return strings.TrimSpace(clip(name, nameWidth) + " " + times(c.count))
}

// differs is the sign for what a proxy does otherwise than predicted, behind what it is about.
const differs = "≠"

// doubt is the sign behind the name of a policy; "" where no proxy does otherwise.
func (c chip) doubt() string {
	if c.differs {
		return "\u00a0" + differs // browsers drop plain spaces at the end of a text
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
