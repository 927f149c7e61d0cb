package gloo

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// overridesAnnotation is the annotation with which an HTTPRoute that hands over names the fields in
// which others may override its options.
const overridesAnnotation = "delegation.gateway.solo.io/enable-policy-overrides"

// newParentFirstStrategy is how the options of a route that delegates are merged with those below
// it: the parent's stay, and the child's fill what the parent leaves out. The raw text is the
// parent's annotation, the fields in which a child may override it.
func newParentFirstStrategy(raw string, s model.Settings) (merge.Strategy, bool) {
	var allowed fieldList
	if !descriptor.IsVersionBelow(readRelease(s), overridesRelease) {
		allowed = parseFieldList(raw)
	}
	return merge.Strategy{Wins: merge.Higher, Cut: merge.Rules, Func: func(parent, child []merge.Unit) ([]merge.Unit,
		[]merge.Effect) {
		var units []merge.Unit
		var effects []merge.Effect
		for _, u := range parent {
			at := slices.IndexFunc(child, func(c merge.Unit) bool { return isSameField(u, c) })
			if at >= 0 && allowed.containsField(u) {
				effects = append(effects, lostEffects(u, merge.Dropped, merge.MoreSpecificWins, child[at].From)...)
				continue
			}
			units = append(units, u)
			effects = append(effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From,
				Action: merge.Taken})
		}
		kept := len(units)
		for _, u := range child {
			at := slices.IndexFunc(units[:kept], func(p merge.Unit) bool { return isSameField(p, u) })
			if at >= 0 {
				effects = append(effects, lostEffects(u, merge.Replaced, merge.LessSpecificOverrides,
					units[at].From)...)
				continue
			}
			units = append(units, u)
		}
		return units, effects
	}}, true
}

// lostEffects is what it costs that a field gives way, for each of its writers.
func lostEffects(u merge.Unit, o merge.Action, why merge.Reason, to []merge.Source) []merge.Effect {
	var out []merge.Effect
	for _, from := range u.From {
		out = append(out, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: []merge.Source{from},
			Action: o, Reason: why, Other: to})
	}
	return out
}

// fieldList is field names as the annotation lists them, in lower case.
type fieldList []string

// parseFieldList reads the annotation: names of fields of spec.options, separated by commas, or *
// for all.
func parseFieldList(raw string) fieldList {
	var out fieldList
	for name := range strings.SplitSeq(raw, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// containsField reports whether a child may override the field.
func (n fieldList) containsField(u merge.Unit) bool {
	return slices.Contains(n, "*") || slices.Contains(n, strings.ToLower(settingField(u)))
}

// isSameField reports whether two settings cannot both be in force.
func isSameField(a, b merge.Unit) bool { return settingField(a) == settingField(b) }

// settingField is the field of the controller's options that a setting is about: of those that
// exclude each other the name of their choice.
func settingField(u merge.Unit) string {
	if u.Choice != "" || len(u.Path) == 0 {
		return u.Choice
	}
	return u.Path[0].Name
}
