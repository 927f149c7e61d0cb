package diff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// maxShownPlaces is how many places of one value are shown by themselves where it changes; with
// more, the value is shown.
const maxShownPlaces = 4

// ChangeRows returns the rows of one change, without its target. A policy that is added or removed
// as a whole has one row.
func ChangeRows(c *PolicyChange, kinds view.KindNames, o view.TableOptions) [][]view.Cell {
	kind := view.Cell{Text: kinds.ShortName(c.PolicyKind)}
	var out [][]view.Cell
	add := func(setting, before, after string, tone view.Tone, r RuleChange) {
		out = append(out, []view.Cell{kind, {Text: setting}, {Text: before}, {Text: after, Tone: tone},
			{Text: view.EachSource(r.SourcesBefore, view.OriginText)}, {Text: view.EachSource(r.SourcesAfter,
				view.OriginText)}})
	}
	switch {
	case c.Change == changeRemoved && !o.Wide:
		setting, text := allRulesText(c, func(r RuleChange) (any, []view.Source) { return r.Before, r.SourcesBefore },
			o)
		word, tone := removalText(c)
		add(setting, text, word, tone, joinSources(c))
	case c.Change == changeAdded && !o.Wide:
		setting, text := allRulesText(c, func(r RuleChange) (any, []view.Source) { return r.After, r.SourcesAfter }, o)
		add(setting, additionText(c), text, view.Good, joinSources(c))
	default:
		for _, r := range c.Rules {
			for _, line := range ruleLines(c, r, o) {
				add(line.setting, line.before, line.after, line.tone, r)
			}
		}
		if c.Reordered {
			add("order of the entries", "-", "another order", view.Partly, RuleChange{})
		}
		if len(out) == 0 {
			add("-", "-", "the spec differs in what is no setting", view.Plain, RuleChange{})
		}
	}
	return out
}

// removalText says why an effective policy is not in force any more.
func removalText(c *PolicyChange) (string, view.Tone) {
	kind, _, _ := strings.Cut(c.PolicyKind, ".")
	switch {
	case c.Unprotected && c.TargetChange == targetUnreached:
		return "no " + kind + " left on new paths", view.Bad
	case c.Unprotected:
		return "no " + kind + " left", view.Bad
	case c.TargetChange == changeRemoved:
		return "target does not exist any more", view.Dim
	case c.TargetChange == targetUnreached:
		return "no traffic comes here", view.Dim
	case len(c.Unread) > 0:
		return "perhaps no " + kind + " left", view.Partly
	}
	return "not set any more", view.Bad
}

// additionText says why a new effective policy was not in force before.
func additionText(c *PolicyChange) string {
	switch c.TargetChange {
	case changeAdded:
		return "target is new"
	case targetReached:
		return "no traffic came here"
	}
	return "-"
}

// allRulesText names the settings of a policy that is added or removed as a whole, and who sets
// them; a value only where there is one setting.
func allRulesText(c *PolicyChange, of func(RuleChange) (any, []view.Source), o view.TableOptions) (setting,
	text string) {
	var names, sources []string
	for _, r := range c.Rules {
		_, from := of(r)
		names = append(names, r.Name)
		if s := sourcesText(c, from); !slices.Contains(sources, s) {
			sources = append(sources, s)
		}
	}
	switch len(names) {
	case 0:
		return "-", "-"
	case 1:
		v, from := of(c.Rules[0])
		return names[0], c.formatValue(&c.Rules[0], v, o) + " (" + sourcesText(c, from) + ")"
	}
	return commonSettingName(names), view.JoinNames(sources, o)
}

// maxChangeWidth is how wide a value may be that stands beside another one.
const maxChangeWidth = 40

// formatValue writes a value of a rule, as much of it as the table has room for.
func (c *PolicyChange) formatValue(r *RuleChange, v any, o view.TableOptions) string {
	if o.Wide {
		return view.ValueText(v, 0)
	}
	side := c.after
	if side == nil {
		side = policyOrEmpty(c.before)
	}
	return view.CutText(side.SummarizeValue(r.path, v), maxChangeWidth)
}

// joinSources joins the sources of all settings of a change.
func joinSources(c *PolicyChange) RuleChange {
	var out RuleChange
	for _, r := range c.Rules {
		out.SourcesBefore = append(out.SourcesBefore, r.SourcesBefore...)
		out.SourcesAfter = append(out.SourcesAfter, r.SourcesAfter...)
	}
	return out
}

// commonSettingName stands for several settings: what their names begin with, and how many they
// are.
func commonSettingName(names []string) string {
	prefix := strings.Split(names[0], ".")
	for _, name := range names[1:] {
		parts := strings.Split(name, ".")
		n := 0
		for n < min(len(prefix), len(parts)) && prefix[n] == parts[n] {
			n++
		}
		prefix = prefix[:n]
	}
	return strings.Join(append(prefix, "*"), ".") + " (" + strconv.Itoa(len(names)) + ")"
}

// ruleLine is what changes of one setting, or in one place of its value.
type ruleLine struct {
	setting, before, after string
	tone                   view.Tone
}

// ruleLines returns the lines of one setting: one where it is new or gone or has other sources, and
// one for each place in which its value differs, if these are few.
func ruleLines(c *PolicyChange, r RuleChange, o view.TableOptions) []ruleLine {
	was, is := sourcesText(c, r.SourcesBefore), sourcesText(c, r.SourcesAfter)
	whole := ruleLine{setting: r.Name}
	switch {
	case !r.inForceBefore():
		whole.before, whole.after, whole.tone = additionText(c), c.formatValue(&r, r.After, o)+" ("+is+")", view.Good
		return []ruleLine{whole}
	case !r.inForceAfter():
		whole.before = c.formatValue(&r, r.Before, o) + " (" + was + ")"
		whole.after, whole.tone = removalText(c)
		if r.shortReason != "" {
			whole.after += ": " + r.shortReason
		}
		return []ruleLine{whole}
	}
	if was == is && !sameSources(r.SourcesBefore, r.SourcesAfter) {
		was, is = detailedSourcesText(c, r.SourcesBefore), detailedSourcesText(c, r.SourcesAfter)
	}
	if !r.hasValueChange() {
		whole.before, whole.after = c.formatValue(&r, r.Before, o)+" ("+was+")", "the same ("+is+")"
		return []ruleLine{whole}
	}
	places := findDifferences(r.Name, merge.Unpack(r.Before), merge.Unpack(r.After))
	if len(places) > maxShownPlaces {
		whole.before, whole.after = c.formatValue(&r, r.Before, o)+" ("+was+")", c.formatValue(&r, r.After,
			o)+" ("+is+")"
		if !o.Wide {
			whole.after += fmt.Sprintf(", differs in %d places", len(places))
		}
		return []ruleLine{whole}
	}
	var out []ruleLine
	for _, p := range places {
		before, after := p.formatValues(o)
		out = append(out, ruleLine{setting: p.path, before: before + " (" + was + ")", after: after + " (" + is + ")"})
	}
	return out
}

// sourcesText names the sources of a setting.
func sourcesText(c *PolicyChange, sources []view.Source) string {
	return view.EachSource(sources, func(s view.Source) string {
		switch {
		case s.Policy == nil:
			return s.Builtin
		case s.Policy.GroupKind().String() != c.PolicyKind:
			return s.Policy.String()
		}
		return s.Policy.FullName()
	})
}

// detailedSourcesText names the sources with everything that tells them apart.
func detailedSourcesText(c *PolicyChange, sources []view.Source) string {
	return view.EachSource(sources, func(s view.Source) string {
		text := []string{sourcesText(c, []view.Source{s})}
		for _, word := range []string{s.Block, s.Strategy} {
			if word != "" {
				text = append(text, word)
			}
		}
		return strings.Join(text, ", ") + " on " + s.Target.String()
	})
}

// valueChange is where two values differ.
type valueChange struct {
	path          string
	before, after any
	had, has      bool
}

// formatValues writes the two values. Long ones are cut so that the difference can be seen.
func (p valueChange) formatValues(o view.TableOptions) (before, after string) {
	width := maxChangeWidth
	if o.Wide {
		width = 0
	}
	if p.had {
		before = view.ValueText(p.before, width)
	}
	if p.has {
		after = view.ValueText(p.after, width)
	}
	switch {
	case !p.had:
		return "not set", after
	case !p.has:
		return before, "not set"
	case before != after:
		return before, after
	}
	was, is := []rune(view.ValueText(p.before, 0)), []rune(view.ValueText(p.after, 0))
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	const lead = 6 // how much is shown of the part that is the same
	from := max(0, same-lead)
	return "…" + view.CutText(string(was[from:]), width-1), "…" + view.CutText(string(is[from:]), width-1)
}

// findDifferences lists the places in which two values differ, by path: entries of objects, and of
// lists of the same length.
func findDifferences(path string, before, after any) []valueChange {
	if merge.Equal(before, after) {
		return nil
	}
	var out []valueChange
	switch b := before.(type) {
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Collect(maps.Keys(b))
		for key := range a {
			if _, both := b[key]; !both {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			was, had := b[key]
			is, has := a[key]
			if had && has {
				out = append(out, findDifferences(path+"."+key, was, is)...)
				continue
			}
			out = append(out, valueChange{path + "." + key, was, is, had, has})
		}
		return out
	case []any:
		a, ok := after.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		for i := range b {
			out = append(out, findDifferences(path+"["+strconv.Itoa(i)+"]", b[i], a[i])...)
		}
		return out
	}
	return []valueChange{{path, before, after, true, true}}
}
