package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// settingLine is a setting with one value and source, and the targets on which it is in force.
type settingLine struct {
	kind, setting, value, from string
	targets                    []model.Ref
}

// settingsBlock has a line for each setting in force, and says how many there are where some are
// left out: of each kind the first ones stay.
func (d *ObjectDescription) settingsBlock(o view.TableOptions) (b view.Block, more string) {
	b = view.Block{Columns: []view.Column{view.SettingColumns[0], view.SettingColumns[1], view.SettingColumns[2],
		view.SettingColumns[3], {Name: "ON", Rank: 6, MinWidth: 8, Shorten: view.ShortName}}}
	lines, kinds := d.collectSettings()
	if len(lines) > mostSettings {
		more = fmt.Sprintf("%d of %d", mostSettings, len(lines))
	}
	for _, line := range pickSettings(lines) {
		b.Rows = append(b.Rows, []view.Cell{{Text: kinds.ShortName(line.kind)}, {Text: line.setting}, {Text: line.value},
			{Text: line.from}, {Text: d.targetsText(line.targets, o)}})
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
	for i := range d.Effective {
		item := &d.Effective[i]
		kinds.Add(item.PolicyKind)
		for j := range item.Rules {
			rule := &item.Rules[j]
			line := settingLine{kind: item.PolicyKind, setting: rule.Name, value: item.SummarizeRule(rule),
				from: view.EachSource(rule.Sources, view.SourceName)}
			at := slices.IndexFunc(out, func(l settingLine) bool {
				return l.kind == line.kind && l.setting == line.setting && l.value == line.value && l.from == line.from
			})
			if at < 0 {
				at = len(out)
				out = append(out, line)
			}
			if !slices.Contains(out[at].targets, item.Target) {
				out[at].targets = append(out[at].targets, item.Target)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b settingLine) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), len(b.targets)-len(a.targets))
	})
	return out, kinds
}

// targetsText says on what a setting is in force: sections of the object by their names, others by
// their number.
func (d *ObjectDescription) targetsText(targets []model.Ref, o view.TableOptions) string {
	var sections []string
	for _, t := range targets {
		if t.WithoutSection() != d.Object.WithoutSection() {
			if len(targets) == 1 {
				return strings.TrimSuffix(t.FullName()+"/"+t.Section, "/")
			}
			return strconv.Itoa(len(targets)) + " " + view.InflectNoun(len(targets), view.SectionNoun(t.Kind))
		}
		sections = append(sections, t.Section)
	}
	if len(sections) > 2 && !o.Wide {
		return view.FormatCount(len(sections), view.SectionNoun(d.Object.Kind))
	}
	return view.SectionList(sections, o)
}
