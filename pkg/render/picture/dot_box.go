package picture

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// What fits into a box: characters of a name, and chips in a cell.
const (
	nameWidth  = 40
	chipsShown = 6
)

// escapeHTML escapes a text for the labels of Graphviz, which are XML, and in which Graphviz looks
// for escapes.
func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", `\`,
		"&#92;&#92;").Replace(escape.Escape(s))
}

// formatElement is an element with attributes, those without a value left out.
func formatElement(name, inner string, list ...attribute) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for _, a := range list {
		if a.value != "" {
			b.WriteString(" " + a.name + `="` + a.value + `"`)
		}
	}
	b.WriteString(">" + inner + "</" + name + ">")
	return b.String()
}

// formatText is a text in a colour and a size.
func (d *clusterWriter) formatText(s string, colour themeColor, size string) string {
	if s == "" {
		return "" // Graphviz rejects empty elements
	}
	return formatElement("FONT", escapeHTML(s), attribute{"COLOR", d.colorValue(colour)}, attribute{"POINT-SIZE", size})
}

// The sizes of texts, in points.
const (
	nameSize  = "11"
	smallSize = "9"
	tinySize  = "8"
)

// leftBreak ends a line of a cell whose text stands at the left.
const leftBreak = `<BR ALIGN="LEFT"/>`

// linkAttributes returns the attributes of a cell that is a link.
func (d *clusterWriter) linkAttributes(n *graph.GraphNode) []attribute {
	_, known := d.places[n.ID]
	url := d.options.linkOf(n.ID)
	if url == "" || !known {
		return nil
	}
	return []attribute{{"HREF", escapeHTML(url)}, {"TITLE", escapeHTML(TooltipOf(n))}}
}

// drawNote draws a policy.
func (d *clusterWriter) drawNote(indent int, n *policyNote) {
	h := kindColors()[n.kind%len(kindColors())]
	width := "0.8"
	if n.focus {
		width = "2.5"
	}
	label := d.formatText(clipText(n.Node.Ref.Kind, nameWidth), h.line, smallSize) + leftBreak +
		d.formatText(clipText(n.Node.Ref.Name, nameWidth), d.colors.text, nameSize) + leftBreak
	if state := n.Node.Labels["state"]; state != "" {
		label += formatElement("I", d.formatText(clipText(state, factWidth), d.colors.missing, smallSize)) + leftBreak
	}
	if len(n.Node.Members) > 0 {
		label = d.formatText(memberTitle(n.Node), d.colors.text, nameSize) + leftBreak
		for _, f := range groupFacts(n.Node) {
			label += d.formatText(clipText(f, factWidth), d.colors.muted, smallSize) + leftBreak
		}
	}
	d.writeLine(indent, QuoteNodeID(n.Node.ID)+" ["+formatAttributes(attribute{"id", formatElementID(n.Node.ID)},
		attribute{"class", "policy kind-" + strconv.Itoa(n.kind)}, attribute{"shape", "note"}, attribute{"style",
			"filled"},
		attribute{"fillcolor", d.colorValue(h.fill)}, attribute{"color", d.colorValue(h.line)}, attribute{"penwidth",
			width}, attribute{"margin", "0.1,0.05"},
		attribute{"tooltip", escapeEntities(TooltipOf(n.Node))}, attribute{"URL",
			escapeEntities(d.options.linkOf(n.Node.ID))})+", label=<"+label+">];")
}

// drawBox draws a target: a head, and a row for each section.
func (d *clusterWriter) drawBox(indent int, b *targetBox) {
	kinds := d.kindsInBox(b)
	rows := []string{d.drawHead(b, kinds)}
	if len(b.Rows[0].Chips) > 0 {
		rows = append(rows, d.drawObjectRow(b, kinds))
	}
	for i := 1; i < len(b.Rows); i++ {
		rows = append(rows, d.drawRow(b, i, kinds))
	}
	frame, style, width := d.colors.frame, "", "1"
	switch {
	case b.Node.Labels[graph.LabelVerdict] == string(point.Denied):
		frame, width = d.colors.overridden, "3"
	case b.Node.Labels[graph.LabelVerdict] == string(point.Depends):
		frame, width = d.colors.partial, "2"
	case b.Node.Labels[graph.LabelVerdict] == string(point.Bypassed):
		frame, style = d.colors.muted, "dashed"
	case b.Node.Labels["request"] != "":
		frame, width = d.colors.request, "2"
	case b.dangles:
		frame, style = d.colors.missing, "dashed"
	case isMissing(b.Node):
		style = "dashed"
	}
	if b.focus {
		width = "2.5"
		if frame == d.colors.frame {
			frame = d.colors.text
		}
	}
	table := formatElement("TABLE", "\n"+strings.Join(rows, "\n")+"\n", attribute{"BORDER", width},
		attribute{"COLOR", d.colorValue(frame)}, attribute{"STYLE", style}, attribute{"BGCOLOR",
			d.colorValue(d.colors.body)},
		attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "4"})
	if len(b.Node.Members) > 0 {
		table = d.stackTable(table)
	}
	d.writeLine(indent, QuoteNodeID(b.Node.ID)+" ["+formatAttributes(attribute{"id", formatElementID(b.Node.ID)},
		attribute{"class", "target " + formatClassName(b.Node.Kind)}, attribute{"tooltip",
			escapeEntities(TooltipOf(b.Node))})+", label=<"+table+">];")
}

// formatClassName is s as the name of a class.
func formatClassName(s string) string { return strings.ReplaceAll(percentEncode(s, "-"), "%", "-") }

// isMissing reports whether n is known by name alone.
func isMissing(n *graph.GraphNode) bool { return n.Labels["state"] != "" }

// stackTable draws the edge of a second sheet behind a table.
func (d *clusterWriter) stackTable(table string) string {
	sheet := func(sides string, list ...attribute) string {
		return formatElement("TD", "",
			append([]attribute{{"BORDER", map[bool]string{true: "0", false: "1"}[sides == ""]}, {"SIDES", sides},
				{"COLOR", d.colorValue(d.colors.frame)}}, list...)...)
	}
	const depth = "5"
	corner := []attribute{{"WIDTH", depth}, {"HEIGHT", depth}, {"FIXEDSIZE", "TRUE"}}
	return formatElement("TABLE", formatElement("TR", formatElement("TD", table, attribute{"COLSPAN", "2"},
		attribute{"ROWSPAN", "2"})+sheet("", corner...))+
		formatElement("TR", sheet("TR", attribute{"WIDTH", depth}))+
		formatElement("TR", sheet("LB", attribute{"HEIGHT", depth}, attribute{"COLSPAN", "2"})+sheet("RB",
			attribute{"HEIGHT", depth}, attribute{"WIDTH", depth})),
		attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING",
			"0"})
}

// kindsInBox returns the numbers of the policy kinds that have chips in a box.
func (p *picture) kindsInBox(b *targetBox) []int {
	var out []int
	for i, kind := range p.Kinds {
		for _, r := range b.Rows {
			if len(r.Chips[kind]) > 0 {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// labelCells is how many cells of a row stand before those of the policy kinds.
const labelCells = "2"

// drawHead draws the row that names the object, and the policy kinds above their columns.
func (d *clusterWriter) drawHead(b *targetBox, kinds []int) string {
	n := b.Node
	lines := []string{d.formatText(clipText(n.Ref.Kind, nameWidth)+n.MeshSuffix(), d.colors.muted, smallSize),
		formatElement("B", d.formatText(clipText(cmp.Or(n.Ref.Name, n.ID), nameWidth), d.colors.text, nameSize))}
	if len(n.Members) > 0 {
		lines = []string{formatElement("B", d.formatText(memberTitle(n), d.colors.text, nameSize))}
		if isNamespaceGroup(n) && n.Ref.Namespace != "" {
			lines = append([]string{d.formatText("Namespace", d.colors.muted, smallSize)}, lines...)
		}
	}
	if n.IsPoint() {
		lines[0] = d.formatText(clipText(n.PointName(), nameWidth), d.colors.muted, smallSize)
	}
	if verdict := n.Labels[graph.LabelVerdict]; verdict != "" {
		lines = append(lines, formatElement("B", d.formatText(verdict, d.verdictColor(verdict), smallSize)))
	}
	for _, f := range boxFacts(b) {
		lines = append(lines, d.formatText(clipText(f, factWidth), d.colors.muted, smallSize))
	}
	if isMissing(n) {
		lines = append(lines, formatElement("I", d.formatText(clipText(n.Labels["state"], factWidth),
			map[bool]themeColor{true: d.colors.missing, false: d.colors.muted}[b.dangles], smallSize)))
	}
	cell := func(high string) string {
		return formatElement("TD", strings.Join(lines, leftBreak)+leftBreak,
			append([]attribute{{"PORT", formatPort(0, false)}, {"COLSPAN", labelCells}, {"ROWSPAN", high},
				{"ALIGN", "LEFT"}, {"BALIGN", "LEFT"}, {"BGCOLOR", d.colorValue(d.colors.head)}},
				d.linkAttributes(n)...)...)
	}
	if len(kinds) == 0 {
		return formatElement("TR", cell(""))
	}
	out := cell(map[bool]string{true: "2"}[len(b.Rows) == 1])
	for _, k := range kinds {
		h := kindColors()[k%len(kindColors())]
		out += formatElement("TD", d.formatText(clipText(d.kindName(k), nameWidth), h.line, smallSize),
			attribute{"ALIGN", "LEFT"}, attribute{"VALIGN", "BOTTOM"}, attribute{"BGCOLOR", d.colorValue(h.fill)},
			attribute{"PORT", map[bool]string{true: formatPort(0, true)}[len(b.Rows) > 1 && k == kinds[len(kinds)-1]]})
	}
	return formatElement("TR", out)
}

// verdictColor is the colour of the word for what is decided about a request.
func (d *clusterWriter) verdictColor(verdict string) themeColor {
	switch verdict {
	case string(point.Denied):
		return d.colors.missing
	case string(point.Bypassed):
		return d.colors.muted
	}
	return d.colors.text
}

// kindName is what a kind of the picture is called: the kind alone if it is the only one of that
// name.
func (p *picture) kindName(k int) string {
	name, _, _ := strings.Cut(p.Kinds[k], ".")
	for i, other := range p.Kinds {
		if short, _, _ := strings.Cut(other, "."); i != k && short == name {
			return p.Kinds[k]
		}
	}
	return name
}

// drawRow draws the row of a section.
func (d *clusterWriter) drawRow(b *targetBox, i int, kinds []int) string {
	r := b.Rows[i]
	n := r.Node
	name, colour := clipText(n.Ref.Section, nameWidth), d.colors.text
	if len(n.Members) > 0 {
		name = memberTitle(n)
	}
	if n.Labels["request"] != "" {
		colour = d.colors.request
	}
	fact := clipText(sectionFact(n), factWidth)
	if isMissing(n) {
		fact = n.Labels["state"]
	}
	return d.drawCells(b, i, d.formatText(name, colour, nameSize), d.formatText(fact, d.colors.muted, smallSize), kinds)
}

// drawObjectRow draws the row for what holds at the object itself. Where there is nothing else, it
// stands beside the name.
func (d *clusterWriter) drawObjectRow(b *targetBox, kinds []int) string {
	if len(b.Rows) == 1 {
		return formatElement("TR", d.drawChipCells(b, b.Rows[0], kinds, formatPort(0, true), d.ruleAttributes()))
	}
	return d.drawCells(b, 0, d.formatText("as a whole", d.colors.muted, smallSize), "", kinds)
}

// ruleAttributes returns the attributes of a cell with a line above it.
func (d *clusterWriter) ruleAttributes() []attribute {
	return []attribute{{"BORDER", "1"}, {"SIDES", "T"}, {"COLOR", d.colorValue(d.colors.groupFrame)}, {"ALIGN", "LEFT"}}
}

// drawCells draws a row: its name, a fact, and the chips of each policy kind. A line stands above
// it.
func (d *clusterWriter) drawCells(b *targetBox, i int, name, fact string, kinds []int) string {
	r, in, out := b.Rows[i], "", ""
	if i > 0 { // the ports of the object are those of its head
		in, out = formatPort(i, false), formatPort(i, true)
	}
	rule := d.ruleAttributes()
	row := formatElement("TD", name, append(append([]attribute{{"PORT", in}}, rule...), d.linkAttributes(r.Node)...)...)
	row += formatElement("TD", fact, append([]attribute{{"PORT", map[bool]string{true: out}[len(kinds) == 0]}},
		rule...)...)
	row += d.drawChipCells(b, r, kinds, out, rule)
	return formatElement("TR", row)
}
