package view

import (
	"slices"
	"strings"
)

func kindList(kinds []string) string {
	out := make([]string, len(kinds))
	for i, kind := range kinds {
		out[i], _, _ = strings.Cut(kind, ".")
	}
	return strings.Join(out, ", ")
}

// whatChanges names the parts that are not the same.
func whatChanges(before, after *reaction) []string {
	out := []string{}
	add := func(what string, differs bool) {
		if differs {
			out = append(out, what)
		}
	}
	add(BehaviorOutcome, before.outcome != after.outcome)
	add(BehaviorBackends, before.backends != after.backends)
	add(BehaviorFilters, before.filtered != after.filtered)
	add(BehaviorPolicies, !slices.EqualFunc(before.settings, after.settings, func(a, b settingInForce) bool { return a.key() == b.key() && a.text == b.text }))
	add(BehaviorDecision, before.decisions != after.decisions)
	add(BehaviorProtection, before.reaches && after.reaches && before.protection.verdicts() != after.protection.verdicts())
	return out
}

// settingChanges are the settings that are not the same. Of lists whose order means something, the entries are compared by name, each with the
// ones of its name in turn; an order alone that changes is not listed.
func settingChanges(before, after *reaction) []SettingChange {
	type numbered struct {
		key string
		n   int
	}
	index := func(r *reaction) (map[numbered]*settingInForce, []numbered) {
		at, seen, order := map[numbered]*settingInForce{}, map[string]int{}, []numbered(nil)
		for i := range r.settings {
			key := numbered{r.settings[i].key(), seen[r.settings[i].key()]}
			seen[key.key]++
			at[key] = &r.settings[i]
			order = append(order, key)
		}
		return at, order
	}
	was, first := index(before)
	is, second := index(after)
	var out []SettingChange
	for _, key := range first {
		b, a := was[key], is[key]
		switch {
		case a == nil:
			out = append(out, SettingChange{PolicyKind: b.kind, At: b.at, Name: b.name, Before: b.value})
		case a.text != b.text:
			out = append(out, SettingChange{PolicyKind: b.kind, At: b.at, Name: b.name, Before: b.value, After: a.value})
		}
	}
	for _, key := range second {
		if a := is[key]; was[key] == nil {
			out = append(out, SettingChange{PolicyKind: a.kind, At: a.at, Name: a.name, After: a.value})
		}
	}
	return out
}
