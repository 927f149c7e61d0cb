package behavior

import (
	"slices"
	"strings"
)

func formatKindNames(kinds []string) string {
	out := make([]string, len(kinds))
	for i, kind := range kinds {
		out[i], _, _ = strings.Cut(kind, ".")
	}
	return strings.Join(out, ", ")
}

// listChangedParts names the parts of what requests get that differ.
func listChangedParts(before, after *classBehavior) []string {
	out := []string{}
	add := func(what string, differs bool) {
		if differs {
			out = append(out, what)
		}
	}
	add(BehaviorOutcome, before.outcome != after.outcome)
	add(BehaviorBackends, before.backends != after.backends)
	add(BehaviorFilters, before.filterKey != after.filterKey)
	add(BehaviorPolicies, !slices.EqualFunc(before.settings, after.settings,
		func(a, b settingInForce) bool { return a.nameKey() == b.nameKey() && a.text == b.text }))
	add(BehaviorDecision, before.decisions != after.decisions)
	add(BehaviorProtection, before.reaches && after.reaches &&
		before.protection.VerdictsKey() != after.protection.VerdictsKey())
	return out
}

// findSettingChanges returns the settings that differ. In lists with an order, entries are compared
// by name, and entries of one name in their order; a change of the order alone is not listed.
func findSettingChanges(before, after *classBehavior) []SettingChange {
	type numbered struct {
		key string
		n   int
	}
	index := func(r *classBehavior) (map[numbered]*settingInForce, []numbered) {
		at, seen, order := map[numbered]*settingInForce{}, map[string]int{}, []numbered(nil)
		for i := range r.settings {
			key := numbered{r.settings[i].nameKey(), seen[r.settings[i].nameKey()]}
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
			out = append(out, SettingChange{PolicyKind: b.kind, At: b.at, Name: b.name, Before: b.value,
				After: a.value})
		}
	}
	for _, key := range second {
		if a := is[key]; was[key] == nil {
			out = append(out, SettingChange{PolicyKind: a.kind, At: a.at, Name: a.name, After: a.value})
		}
	}
	return out
}
