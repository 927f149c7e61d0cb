package view

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// flatLine is a line of the flat table: where, and what is in force there.
type flatLine struct {
	object   model.Ref
	sections []string
	via      string
	cells    []Cell // from KIND on
	unsure   bool
}

// flatBlock is every setting in force with its target in every row, for grep and sort. Rules with the same settings share rows only where a
// person reads them.
func flatBlock(groups []pathGroup, kinds kindNames, o TableOptions) Block {
	lines := flatLines(groups, kinds, o)
	joined := o.Terminal && !o.ByRule && !o.Wide
	if joined {
		lines = joinSections(lines)
	}
	object, section := flatNouns(groups)
	b := Block{Columns: []Column{{Name: "NAMESPACE", Rank: 2, MinWidth: 9, Shorten: shortCount}, {Name: object, Rank: 6, MinWidth: 10, Shorten: shortName},
		{Name: section, Rank: 4, MinWidth: 9, Shorten: shortList}, {Name: "VIA", Rank: 9, MinWidth: 8, Shorten: shortVia, Optional: true}}}
	b.Columns = append(b.Columns, settingColumns...)
	if !o.Wide {
		b.Columns = b.Columns[:len(b.Columns)-wideSettingColumns]
	}
	if joined {
		var common []flatLine
		common, lines = splitCommonLines(lines)
		for i := range common {
			b.Rows = append(b.Rows, common[i].buildRow(o))
		}
	} else {
		b.Rows = make([][]Cell, 0, len(lines))
	}
	for i := range lines {
		b.Rows = append(b.Rows, lines[i].buildRow(o))
	}
	return b
}

// flatLines is a line for every setting of every rule, in the order of the groups.
func flatLines(groups []pathGroup, kinds kindNames, o TableOptions) []flatLine {
	var out []flatLine
	rows := map[*Rule][][]Cell{} // of answers that many targets share
	for i := range groups {
		g := &groups[i]
		via := viaCell(g.paths, g.target, o)
		for _, items := range g.itemsBySection() {
			sections := []string{items[0].Target.Section}
			for _, item := range items {
				var cells [][]Cell
				if len(item.Rules) > 0 {
					cells = rows[&item.Rules[0]]
				}
				if cells == nil {
					cells = settingRows(item, kinds, o)
					if len(item.Rules) > 0 {
						rows[&item.Rules[0]] = cells
					}
				}
				for _, row := range cells {
					out = append(out, flatLine{object: g.target, sections: sections, via: via, cells: row, unsure: len(item.Unread) > 0})
				}
			}
		}
	}
	return out
}

// viaCell says how traffic gets to a target, "-" where the target's name says it.
func viaCell(paths []Path, target model.Ref, o TableOptions) string {
	return orDash(strings.TrimPrefix(viaText(paths, target, o), "Gateway "))
}

// flatNouns returns the headings of the target columns, by the kinds of the targets.
func flatNouns(groups []pathGroup) (object, section string) {
	for i := range groups {
		if !strings.HasSuffix(groups[i].target.Kind, "Route") {
			return "TARGET", "SECTION"
		}
	}
	return "ROUTE", "RULE"
}

// joinSections joins the lines of one object and path that are the same for several of its
// sections.
func joinSections(lines []flatLine) []flatLine {
	type place struct {
		object    model.Ref
		via, text string
	}
	at := map[place]int{}
	var out []flatLine
	for _, l := range lines {
		key := place{l.object, l.via, rowKey(l.cells)}
		if i, known := at[key]; known {
			out[i].sections = append(out[i].sections[:len(out[i].sections):len(out[i].sections)], l.sections...)
			continue
		}
		at[key] = len(out)
		out = append(out, l)
	}
	return out
}

// maxNamedObjects are listed by name, where they have the same setting.
const maxNamedObjects = 2

// splitCommonLines takes out the lines that are the same for more than a few objects, and makes one
// of each.
func splitCommonLines(lines []flatLine) (common, rest []flatLine) {
	same := map[string][]int{}
	var order []string
	for i := range lines {
		text := rowKey(lines[i].cells)
		if same[text] == nil {
			order = append(order, text)
		}
		same[text] = append(same[text], i)
	}
	taken := make([]bool, len(lines))
	for _, text := range order {
		objects, namespaces, vias, rules := map[model.Ref]bool{}, map[string]bool{}, map[string]bool{}, 0
		for _, i := range same[text] {
			l := &lines[i]
			objects[l.object], namespaces[l.object.Namespace], vias[l.via] = true, true, true
			rules += len(l.sections)
		}
		if len(objects) <= maxNamedObjects {
			continue
		}
		first := lines[same[text][0]]
		all := flatLine{object: model.Ref{Kind: first.object.Kind, Namespace: first.object.Namespace}, cells: first.cells, via: first.via, unsure: first.unsure}
		for object := range objects {
			if object.Kind != all.object.Kind {
				all.object.Kind = "target"
			}
		}
		if len(namespaces) > 1 {
			all.object.Namespace = FormatCount(len(namespaces), "namespace")
		}
		if len(vias) > 1 {
			all.via = FormatCount(len(vias), "path")
		}
		all.object.Name = FormatCount(len(objects), objectNoun(all.object.Kind))
		all.sections = []string{FormatCount(rules, sectionNoun(all.object.Kind))}
		all.object.Kind = ""
		common = append(common, all)
		for _, i := range same[text] {
			taken[i] = true
		}
	}
	for i := range lines {
		if !taken[i] {
			rest = append(rest, lines[i])
		}
	}
	return common, rest
}

// buildRow returns the line as a row with its target in front.
func (l *flatLine) buildRow(o TableOptions) []Cell {
	namespace, name, section := orDash(l.object.Namespace), l.object.Name, sectionList(l.sections, o)
	if l.object.Kind != "" {
		name = strings.ToLower(l.object.Kind) + "/" + name
	}
	cells := l.cells
	if l.unsure {
		namespace = unsureMark + namespace
		cells = append([]Cell{{Text: strings.TrimPrefix(cells[0].Text, unsureMark), Tone: cells[0].Tone}}, cells[1:]...)
	}
	row := make([]Cell, 0, 4+len(cells))
	return append(append(row, Cell{Text: namespace}, Cell{Text: name}, Cell{Text: orDash(section)}, Cell{Text: l.via}), cells...)
}

// rowKey returns a key that tells rows apart.
func rowKey(row []Cell) string {
	texts := make([]string, len(row))
	for i := range row {
		texts[i] = row[i].Text
	}
	return strings.Join(texts, "\x00")
}
