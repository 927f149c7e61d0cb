package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// settingLine is a setting with one value and source, and the targets on which it is in force.
type settingLine struct {
	settingKey
	targets       model.Set[model.Ref]
	paths         []view.Path
	isOnSomePaths bool // another line says the same setting of one of the targets, for other paths
}

// settingKey is what is equal of the settings that share a line.
type settingKey struct{ kind, setting, value, from string }

// settingsBlock has a line for each setting in force, and says how many there are where some are
// left out: of each kind the first ones stay.
func (d *ObjectDescription) settingsBlock(o view.TableOptions) (b view.Block, more string) {
	b = view.Block{Columns: []view.Column{view.SettingColumns[0], view.SettingColumns[1], view.SettingColumns[2],
		view.SettingColumns[3], {Name: "ON", Rank: 6, MinWidth: 8}}}
	lines, kinds := d.collectSettings()
	if len(lines) > mostSettings {
		more = fmt.Sprintf("%d of %d rows, some of each kind", mostSettings, len(lines))
	}
	for _, line := range pickSettings(lines) {
		on := d.targetsText(line.targets.List, o)
		if via := view.ViaText(line.paths, line.targets.List[0].WithoutSection(), o); line.isOnSomePaths && via != "" {
			on += " via " + via
		}
		b.Rows = append(b.Rows, []view.Cell{{Text: kinds.ShortName(line.kind)}, {Text: line.setting}, {Text: line.value},
			{Text: line.from}, {Text: on}})
	}
	return b, more
}

// pickSettings returns the lines that are shown, in their order: of each kind its share, then
// whatever comes first.
func pickSettings(lines []settingLine) []settingLine {
	perKind := map[string]int{}
	for _, line := range lines {
		perKind[line.kind]++
	}
	share := max(1, mostSettings/max(len(perKind), 1))
	left := mostSettings
	shown := make([]bool, len(lines))
	for _, isShare := range []bool{true, false} {
		taken := map[string]int{}
		for i := range lines {
			if left == 0 || shown[i] || isShare && taken[lines[i].kind] == share {
				continue
			}
			shown[i] = true
			taken[lines[i].kind]++
			left--
		}
	}
	var out []settingLine
	for i := range lines {
		if shown[i] {
			out = append(out, lines[i])
		}
	}
	return out
}

// collectSettings gathers equal settings, by kind, those first that are on most targets, and the kinds.
func (d *ObjectDescription) collectSettings() ([]settingLine, view.KindNames) {
	kinds := view.KindNames{}
	var out []settingLine
	at := map[settingKey]int{}
	for i := range d.Effective {
		item := &d.Effective[i]
		kinds.Add(item.PolicyKind)
		for j := range item.Rules {
			rule := &item.Rules[j]
			key := settingKey{item.PolicyKind, rule.Name, item.SummarizeRule(rule),
				view.EachSource(rule.Sources, view.SourceName)}
			n, known := at[key]
			if !known {
				n = len(out)
				at[key] = n
				out = append(out, settingLine{settingKey: key})
			}
			out[n].targets.Add(item.Target)
			out[n].paths = append(out[n].paths, item.Paths...)
		}
	}
	markPaths(out)
	slices.SortStableFunc(out, func(a, b settingLine) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), len(b.targets.List)-len(a.targets.List))
	})
	return out, kinds
}

// markPaths marks the lines of which another says the same setting of the same target.
func markPaths(lines []settingLine) {
	type place struct {
		kind, setting string
		target        model.Ref
	}
	first := map[place]int{}
	for i := range lines {
		for _, target := range lines[i].targets.List {
			at := place{lines[i].kind, lines[i].setting, target}
			if other, known := first[at]; known {
				lines[i].isOnSomePaths, lines[other].isOnSomePaths = true, true
			} else {
				first[at] = i
			}
		}
	}
}

// targetsText says on what a setting is in force: sections of the object by their names, others
// with the name of their object or, if these are many, by their number.
func (d *ObjectDescription) targetsText(targets []model.Ref, o view.TableOptions) string {
	first := targets[0].WithoutSection()
	var sections []string
	for _, t := range targets {
		if t.WithoutSection() != first {
			if noun := view.SectionNoun(t.Kind); noun == "rule" {
				return fmt.Sprintf("%d of %s", len(targets), view.FormatCount(d.countRules(), noun))
			}
			return view.FormatCount(len(targets), "target")
		}
		if t.Section != "" {
			sections = append(sections, t.Section)
		}
	}
	switch {
	case first != d.Object.WithoutSection():
		return view.AddSections(first.String(), sections, o)
	case len(sections) == 0:
		return d.wholeText()
	case isRule(targets[0]) && len(targets) > 1 && len(targets) == d.countRules():
		return d.wholeText()
	}
	return view.SectionList(sections, o)
}
