package behavior

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// AlsoSettings are the settings that a verdict can be about besides what it is always about.
func AlsoSettings() []string {
	return []string{"bodyLimit", "timeouts", "retries", "limits", "buffering", "affinity"}
}

// comparableSettings are the settings that mean the same at every proxy.
var comparableSettings = []string{"bodyLimit", "limits", "affinity", "cors", "upstreamHost", "backendProtocol"}

// countSettings notes the settings of two answers of backends that differ, and returns the position of
// the change; -1: none does. A change counts if it is of what was asked about; of the others those are
// noted that an object sets on either side.
func (c *acrossComparer) countSettings(p probe, before, after *sideAnswer) int {
	if before.Outcome != request.Matched || after.Outcome != request.Matched {
		return -1
	}
	var asked, beyond []SettingChange
	for _, change := range compareSettings(before.Settings, after.Settings) {
		family, _, _ := strings.Cut(change.Name, ".")
		switch {
		case slices.Contains(c.query.Also, family):
			asked = append(asked, change)
		case change.PolicyKind != "" && slices.Contains(comparableSettings, family):
			beyond = append(beyond, change)
		}
	}
	switch {
	case len(asked) > 0:
		return c.addChange(p, BehaviorChange{Difference: OtherAnswer, Changes: []string{BehaviorPolicies}, Policies: asked},
			before, after)
	case len(beyond) > 0:
		return c.addChange(p, BehaviorChange{Difference: OtherSettings, Beyond: true,
			Changes: []string{BehaviorPolicies}, Policies: beyond}, before, after)
	}
	return -1
}

// compareSettings returns the settings that differ, by name. The kind of a change is that of the object
// that sets it on a side; "": it is a default on both.
func compareSettings(before, after []ingress.Setting) []SettingChange {
	index := map[string][2]*ingress.Setting{}
	var names []string
	for side, all := range [][]ingress.Setting{before, after} {
		for i := range all {
			pair, known := index[all[i].Name]
			if !known {
				names = append(names, all[i].Name)
			}
			pair[side] = &all[i]
			index[all[i].Name] = pair
		}
	}
	slices.Sort(names)
	var out []SettingChange
	for _, name := range names {
		pair := index[name]
		change := SettingChange{Name: name}
		for side, s := range pair {
			if s == nil {
				continue
			}
			*[]*any{&change.Before, &change.After}[side] = s.Value
			if s.Source != (model.Ref{}) {
				change.PolicyKind, change.At = s.Source.GroupKind().String(), cmp.Or(change.At, s.Source.String())
			}
		}
		if name == "bodyLimit" && isUnlimited(pair[0]) && isUnlimited(pair[1]) {
			continue
		}
		if pair[0] == nil || pair[1] == nil || !isSameValue(name, pair[0].Value, pair[1].Value) {
			out = append(out, change)
		}
	}
	return out
}

// isUnlimited reports whether a limit of bodies is none.
func isUnlimited(s *ingress.Setting) bool { return s == nil || s.Value == "0" }

// unknownValue is the value of a setting of which only the presence is known.
const unknownValue = "..."

// isSameValue reports whether two texts are the same size or time.
func isSameValue(name, a, b string) bool {
	if a == b || a == unknownValue || b == unknownValue {
		return true
	}
	switch family, _, _ := strings.Cut(name, "."); family {
	case "bodyLimit":
		x, known := parseSize(a)
		y, also := parseSize(b)
		return known && also && x == y
	case "timeouts":
		x, known := parseTime(a)
		y, also := parseTime(b)
		return known && also && x == y
	}
	return false
}

// parseSize reads a number of bytes, as proxies write it (8m) or as Kubernetes does (8Mi).
func parseSize(text string) (int64, bool) {
	units := map[string]int64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
	for unit, factor := range units {
		if digits, found := strings.CutSuffix(text, unit); found {
			n, err := strconv.ParseInt(digits, 10, 64)
			return n * factor, err == nil
		}
	}
	q, err := resource.ParseQuantity(text)
	return q.Value(), err == nil
}

// parseTime reads a time, a number of seconds where it has no unit.
func parseTime(text string) (time.Duration, bool) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(n * float64(time.Second)), true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// formatSettingChanges is the same for the same changes of settings.
func formatSettingChanges(all []SettingChange) string {
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprint(c.Name, " ", c.Before, " ", c.After))
	}
	return strings.Join(out, ", ")
}

// formatBytes writes a number of bytes.
func formatBytes(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }

// changedParts are the parts of what requests get that a difference is about.
func changedParts(d Difference) []string {
	switch d {
	case OtherBackend:
		return []string{BehaviorBackends}
	case OtherPath:
		return []string{BehaviorFilters}
	case NewAccess, AccessLost:
		return []string{BehaviorOutcome, BehaviorProtection}
	}
	return []string{BehaviorOutcome}
}

// orderHosts returns the hosts, those first that both sides serve or neither does.
func orderHosts(all []HostCoverage) []HostCoverage {
	slices.SortStableFunc(all, func(a, b HostCoverage) int {
		return cmp.Compare(b.rank(), a.rank())
	})
	return all
}

func (h HostCoverage) rank() int {
	if h.Before == h.After {
		return 1
	}
	return 0
}
