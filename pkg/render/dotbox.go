package render

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// What fits into a box: characters of a name, and chips in a cell.
const (
	nameWidth  = 40
	chipsShown = 6
)

// html writes text so that it is text in the labels of Graphviz, which are XML, and in which Graphviz looks for escapes.
func html(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", `\`, "&#92;&#92;").Replace(Escape(s))
}

// tag is an element with attributes, those without a value left out.
func tag(name, inner string, list ...attribute) string {
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

// text is a text in a colour and a size.
func (d *clusters) text(s string, colour shade, size string) string {
	if s == "" {
		return "" // Graphviz takes no empty element
	}
	return tag("FONT", html(s), attribute{"COLOR", d.value(colour)}, attribute{"POINT-SIZE", size})
}

// The sizes of texts, in points.
const (
	nameSize  = "11"
	smallSize = "9"
	tinySize  = "8"
)

// left ends a line of a cell whose text stands at the left.
const left = `<BR ALIGN="LEFT"/>`

// linked are the attributes of a cell that leads somewhere.
func (d *clusters) linked(n *view.GraphNode) []attribute {
	_, known := d.places[n.ID]
	url := d.o.link(n.ID)
	if url == "" || !known {
		return nil
	}
	return []attribute{{"HREF", html(url)}, {"TITLE", html(titled(n))}}
}

// note draws a policy.
func (d *clusters) note(indent int, n *note) {
	h := hues()[n.kind%len(hues())]
	width := "0.8"
	if n.focus {
		width = "2.5"
	}
	label := d.text(clip(n.node.Ref.Kind, nameWidth), h.line, smallSize) + left + d.text(clip(n.node.Ref.Name, nameWidth), d.c.text, nameSize) + left
	if state := n.node.Labels["state"]; state != "" {
		label += tag("I", d.text(clip(state, factWidth), d.c.missing, smallSize)) + left
	}
	if len(n.node.Members) > 0 {
		label = d.text(memberTitle(n.node), d.c.text, nameSize) + left
		for _, f := range groupFacts(n.node) {
			label += d.text(clip(f, factWidth), d.c.muted, smallSize) + left
		}
	}
	d.line(indent, dotID(n.node.ID)+" ["+attributes(attribute{"id", svgID(n.node.ID)}, attribute{"class", "policy kind-" + strconv.Itoa(n.kind)}, attribute{"shape", "note"}, attribute{"style", "filled"},
		attribute{"fillcolor", d.value(h.fill)}, attribute{"color", d.value(h.line)}, attribute{"penwidth", width}, attribute{"margin", "0.1,0.05"},
		attribute{"tooltip", shown(titled(n.node))}, attribute{"URL", shown(d.o.link(n.node.ID))})+", label=<"+label+">];")
}

// box draws a target: a head, and a row for each section.
func (d *clusters) box(indent int, b *box) {
	kinds := d.kindsIn(b)
	rows := []string{d.head(b, kinds)}
	if len(b.rows[0].chips) > 0 {
		rows = append(rows, d.objectRow(b, kinds))
	}
	for i := 1; i < len(b.rows); i++ {
		rows = append(rows, d.row(b, i, kinds))
	}
	frame, style, width := d.c.frame, "", "1"
	switch {
	case b.node.Labels["request"] != "":
		frame, width = d.c.request, "2"
	case b.dangles:
		frame, style = d.c.missing, "dashed"
	case missing(b.node):
		style = "dashed"
	}
	if b.focus {
		width = "2.5"
		if frame == d.c.frame {
			frame = d.c.text
		}
	}
	table := tag("TABLE", "\n"+strings.Join(rows, "\n")+"\n", attribute{"BORDER", width}, attribute{"COLOR", d.value(frame)}, attribute{"STYLE", style}, attribute{"BGCOLOR", d.value(d.c.body)},
		attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "4"})
	if len(b.node.Members) > 0 {
		table = d.stack(table)
	}
	d.line(indent, dotID(b.node.ID)+" ["+attributes(attribute{"id", svgID(b.node.ID)}, attribute{"class", "target " + word(b.node.Kind)}, attribute{"tooltip", shown(titled(b.node))})+", label=<"+table+">];")
}

// word is s as the name of a class.
func word(s string) string { return strings.ReplaceAll(percent(s, "-"), "%", "-") }

// missing reports whether n is known by name alone.
func missing(n *view.GraphNode) bool { return n.Labels["state"] != "" }

// stack puts the edge of a second sheet behind a table.
func (d *clusters) stack(table string) string {
	sheet := func(sides string, list ...attribute) string {
		return tag("TD", "", append([]attribute{{"BORDER", map[bool]string{true: "0", false: "1"}[sides == ""]}, {"SIDES", sides}, {"COLOR", d.value(d.c.frame)}}, list...)...)
	}
	const depth = "5"
	corner := []attribute{{"WIDTH", depth}, {"HEIGHT", depth}, {"FIXEDSIZE", "TRUE"}}
	return tag("TABLE", tag("TR", tag("TD", table, attribute{"COLSPAN", "2"}, attribute{"ROWSPAN", "2"})+sheet("", corner...))+
		tag("TR", sheet("TR", attribute{"WIDTH", depth}))+
		tag("TR", sheet("LB", attribute{"HEIGHT", depth}, attribute{"COLSPAN", "2"})+sheet("RB", attribute{"HEIGHT", depth}, attribute{"WIDTH", depth})),
		attribute{"BORDER", "0"}, attribute{"CELLBORDER", "0"}, attribute{"CELLSPACING", "0"}, attribute{"CELLPADDING", "0"})
}

// kindsIn are the numbers of the policy kinds that have chips in a box.
func (p *picture) kindsIn(b *box) []int {
	var out []int
	for i, kind := range p.kinds {
		for _, r := range b.rows {
			if len(r.chips[kind]) > 0 {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// labelCells is how many cells of a row stand before those of the policy kinds.
const labelCells = "2"

// head is the row that names the object, and the policy kinds above their columns.
func (d *clusters) head(b *box, kinds []int) string {
	n := b.node
	lines := []string{d.text(clip(n.Ref.Kind, nameWidth)+n.Suffix(), d.c.muted, smallSize), tag("B", d.text(clip(cmp.Or(n.Ref.Name, n.ID), nameWidth), d.c.text, nameSize))}
	if len(n.Members) > 0 {
		lines = []string{tag("B", d.text(memberTitle(n), d.c.text, nameSize))}
		if isNamespaces(n) && n.Ref.Namespace != "" {
			lines = append([]string{d.text("Namespace", d.c.muted, smallSize)}, lines...)
		}
	}
	for _, f := range facts(b) {
		lines = append(lines, d.text(clip(f, factWidth), d.c.muted, smallSize))
	}
	if missing(n) {
		lines = append(lines, tag("I", d.text(clip(n.Labels["state"], factWidth), map[bool]shade{true: d.c.missing, false: d.c.muted}[b.dangles], smallSize)))
	}
	cell := func(high string) string {
		return tag("TD", strings.Join(lines, left)+left, append([]attribute{{"PORT", port(0, false)}, {"COLSPAN", labelCells}, {"ROWSPAN", high}, {"ALIGN", "LEFT"}, {"BALIGN", "LEFT"}, {"BGCOLOR", d.value(d.c.head)}}, d.linked(n)...)...)
	}
	if len(kinds) == 0 {
		return tag("TR", cell(""))
	}
	out := cell(map[bool]string{true: "2"}[len(b.rows) == 1])
	for _, k := range kinds {
		h := hues()[k%len(hues())]
		out += tag("TD", d.text(clip(d.kindName(k), nameWidth), h.line, smallSize), attribute{"ALIGN", "LEFT"}, attribute{"VALIGN", "BOTTOM"}, attribute{"BGCOLOR", d.value(h.fill)},
			attribute{"PORT", map[bool]string{true: port(0, true)}[len(b.rows) > 1 && k == kinds[len(kinds)-1]]})
	}
	return tag("TR", out)
}

// kindName is what a kind of the picture is called: the kind alone if it is the only one of that name.
func (p *picture) kindName(k int) string {
	name, _, _ := strings.Cut(p.kinds[k], ".")
	for i, other := range p.kinds {
		if short, _, _ := strings.Cut(other, "."); i != k && short == name {
			return p.kinds[k]
		}
	}
	return name
}

// row is the row of a section.
func (d *clusters) row(b *box, i int, kinds []int) string {
	r := b.rows[i]
	n := r.node
	name, colour := clip(n.Ref.Section, nameWidth), d.c.text
	if len(n.Members) > 0 {
		name = memberTitle(n)
	}
	if n.Labels["request"] != "" {
		colour = d.c.request
	}
	fact := clip(sectionFact(n), factWidth)
	if missing(n) {
		fact = n.Labels["state"]
	}
	return d.cells(b, i, d.text(name, colour, nameSize), d.text(fact, d.c.muted, smallSize), kinds)
}

// objectRow is the row for what holds at the object itself. Where there is nothing else, it stands beside the name.
func (d *clusters) objectRow(b *box, kinds []int) string {
	if len(b.rows) == 1 {
		return tag("TR", d.chipCells(b, b.rows[0], kinds, port(0, true), d.ruled()))
	}
	return d.cells(b, 0, d.text("as a whole", d.c.muted, smallSize), "", kinds)
}

// ruled are the attributes of a cell with a line above it.
func (d *clusters) ruled() []attribute {
	return []attribute{{"BORDER", "1"}, {"SIDES", "T"}, {"COLOR", d.value(d.c.groupFrame)}, {"ALIGN", "LEFT"}}
}

// cells is a row: its name, a fact, and the chips of each policy kind. A line stands above it.
func (d *clusters) cells(b *box, i int, name, fact string, kinds []int) string {
	r, in, out := b.rows[i], "", ""
	if i > 0 { // the ports of the object are those of its head
		in, out = port(i, false), port(i, true)
	}
	rule := d.ruled()
	row := tag("TD", name, append(append([]attribute{{"PORT", in}}, rule...), d.linked(r.node)...)...)
	row += tag("TD", fact, append([]attribute{{"PORT", map[bool]string{true: out}[len(kinds) == 0]}}, rule...)...)
	row += d.chipCells(b, r, kinds, out, rule)
	return tag("TR", row)
}
