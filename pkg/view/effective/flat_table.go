package effective

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// flatLine is a line of the flat table: where, and what is in force there.
type flatLine struct {
	object   model.Ref
	sections []string
	via      string
	cells    []view.Cell // from KIND on
	key      string      // tells the cells from others
	unsure   bool
}

// flatBlock is every setting in force with its target in every row, for grep and sort. Rules with
// the same settings share rows only where a person reads them.
func flatBlock(groups []pathGroup, kinds view.KindNames, o view.TableOptions) view.Block {
	lines := flatLines(groups, kinds, o)
	joined := o.Terminal && !o.ByRule && !o.Wide
	if joined {
		lines = joinSections(lines)
	}
	object, section := flatNouns(groups)
	b := view.Block{FormatGroup: view.FormatTargetGroup, Columns: []view.Column{
		{Name: "NAMESPACE", Rank: 2, MinWidth: 9, Shorten: view.ShortCount, Group: true},
		{Name: object, Rank: 6, MinWidth: 10, Shorten: view.ShortName, Group: true},
		{Name: section, Rank: 4, MinWidth: 9, Group: true},
		{Name: "VIA", Rank: 9, MinWidth: 8, Shorten: view.ShortVia, Group: true}}}
	b.Columns = append(b.Columns, view.SettingColumns...)
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
		b.Rows = make([][]view.Cell, 0, len(lines))
	}
	for i := range lines {
		b.Rows = append(b.Rows, lines[i].buildRow(o))
	}
	return b
}

// flatLines is a line for every setting of every rule, in the order of the groups.
func flatLines(groups []pathGroup, kinds view.KindNames, o view.TableOptions) []flatLine {
	var out []flatLine
	rows := map[*view.Rule][]settingRow{} // of answers that many targets share
	for i := range groups {
		g := &groups[i]
		via := view.ViaCell(g.paths, g.target, o)
		for _, items := range g.itemsBySection() {
			sections := []string{items[0].Target.Section}
			for _, item := range items {
				var cells []settingRow
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
					out = append(out, flatLine{object: g.target, sections: sections, via: via, cells: row.cells, key: row.key,
						unsure: len(item.Unread) > 0})
				}
			}
		}
	}
	return out
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
		key := place{l.object, l.via, l.key}
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
		text := lines[i].key
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
		all := flatLine{object: model.Ref{Kind: first.object.Kind, Namespace: first.object.Namespace},
			cells: first.cells, via: first.via, unsure: first.unsure}
		for object := range objects {
			if object.Kind != all.object.Kind {
				all.object.Kind = "target"
			}
		}
		if len(namespaces) > 1 {
			all.object.Namespace = view.FormatCount(len(namespaces), "namespace")
		}
		if len(vias) > 1 {
			all.via = view.FormatCount(len(vias), "path")
		}
		all.object.Name = view.FormatCount(len(objects), view.ObjectNoun(all.object.Kind))
		all.sections = []string{view.FormatCount(rules, view.SectionNoun(all.object.Kind))}
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
func (l *flatLine) buildRow(o view.TableOptions) []view.Cell {
	namespace, name, section := view.OrDash(l.object.Namespace), l.object.Name, view.SectionList(l.sections, o)
	if l.object.Kind != "" {
		name = strings.ToLower(l.object.Kind) + "/" + name
	}
	cells := l.cells
	if l.unsure {
		namespace = view.UnsureMark + namespace
		cells = append([]view.Cell{{Text: strings.TrimPrefix(cells[0].Text, view.UnsureMark), Tone: cells[0].Tone}},
			cells[1:]...)
	}
	row := make([]view.Cell, 0, 4+len(cells))
	return append(append(row, view.Cell{Text: namespace}, view.Cell{Text: name}, view.Cell{Text: view.OrDash(section)},
		view.Cell{Text: l.via}), cells...)
}
