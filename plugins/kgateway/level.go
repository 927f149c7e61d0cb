package kgateway

import (
	"encoding/json"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The values of the annotation with which a route says how its policies meet those of the routes
// that it delegates to.
const (
	shallowChild  = "ShallowMergePreferChild"
	shallowParent = "ShallowMergePreferParent"
	deepChild     = "DeepMergePreferChild"
	deepParent    = "DeepMergePreferParent"
)

// newLevelPlan merges the policies of one route, listener or Gateway: the most specific first, then
// in their order, setting by setting. What is set already stays; acl, and what the setting
// policyMerge says, is combined. Where one of them is in error kgateway takes nothing of theirs.
func newLevelPlan(s model.Settings) merge.PlanFunc {
	deep := listDeepRules(s)
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		var f settingFold
		if slices.ContainsFunc(s.Layers, func(l merge.Layer) bool { return l.InError }) {
			return nil, nil
		}
		for _, at := range orderLayers(s.Layers) {
			reason := func(to []merge.Source) merge.Reason { return findLossReason(s.Layers, at, to) }
			for _, b := range s.Layers[at].Blocks {
				for _, u := range f.dropForwarded(b.Units, reason) {
					f.addBelow(u, deep[settingName(u.Path)], reason)
				}
			}
		}
		return f.units, f.effects
	}
}

// listDeepRules are the settings that policies of one level share: acl, unless policyMerge says
// otherwise, and what it names.
func listDeepRules(s model.Settings) map[string]bool {
	out := map[string]bool{"acl": true}
	var chosen struct {
		TrafficPolicy map[string]string `json:"trafficPolicy"`
	}
	if json.Unmarshal([]byte(s.Text("kgateway.policyMerge")), &chosen) != nil {
		return out
	}
	for _, name := range []string{"extAuth", "extProc", "transformation", "acl"} {
		if how, ok := chosen.TrafficPolicy[name]; ok {
			out[name] = how == "DeepMerge"
		}
	}
	return out
}

// orderLayers orders layers as they are merged: the most specific place first, and in a place the
// established policy first.
func orderLayers(all []merge.Layer) []int {
	var out []int
	for end := len(all); end > 0; {
		start := end - 1
		for start > 0 && isSamePlace(all[start-1], all[end-1]) {
			start--
		}
		for i := start; i < end; i++ {
			out = append(out, i)
		}
		end = start
	}
	return out
}

func isSamePlace(a, b merge.Layer) bool {
	return a.Level == b.Level && a.Hop == b.Hop && a.Target == b.Target
}

// findLossReason says why a layer lost to others.
func findLossReason(all []merge.Layer, loser int, to []merge.Source) merge.Reason {
	for _, w := range to {
		if !isSamePlace(all[loser], all[w.Layer]) {
			return merge.MoreSpecificWins
		}
	}
	return merge.SameLevelOrder
}

// addBelow merges a setting of less weight into what is there.
func (f *settingFold) addBelow(u merge.Unit, deep bool, reason func([]merge.Source) merge.Reason) {
	if len(u.Path) == 2 && u.Path[0].Name == "perPort" && f.mergePort(u, reason) {
		return
	}
	at := f.findPath(u.Path)
	if at < 0 {
		f.addEffective(u)
		return
	}
	if deep {
		if f.mergeDeep(at, u, false, reason) {
			return
		}
	}
	f.addLost(u, reason(f.units[at].From), f.units[at].From)
}

// newInheritStrategy is how the policies of a route that delegates are merged with those below it.
func newInheritStrategy(raw string, _ model.Settings) (merge.Strategy, bool) {
	switch raw {
	case shallowParent, deepChild, deepParent:
	default:
		raw = shallowChild
	}
	// which is asked of settings of routes themselves: of these a parent has all that it is said to
	// come first in
	wins := merge.Higher
	if raw == shallowChild {
		wins = merge.Lower
	}
	return merge.Strategy{Wins: wins, Func: func(parent, child []merge.Unit) ([]merge.Unit, []merge.Effect) {
		f := settingFold{units: append([]merge.Unit(nil), child...)}
		for _, u := range parent {
			f.addParent(u, raw)
		}
		return f.units, f.effects
	}}, true
}

// addParent merges a parent's setting into its child's. DeepMergePreferParent prefers the parent
// only in what it can combine: whole settings of the child stay.
func (f *settingFold) addParent(u merge.Unit, how string) {
	at := f.findPath(u.Path)
	switch {
	case at < 0:
		f.addEffective(u)
	case how == shallowParent:
		f.replaceSetting(at, u, merge.LessSpecificOverrides)
	case how != shallowChild && f.mergeDeep(at, u, how == deepParent,
		func([]merge.Source) merge.Reason { return merge.MoreSpecificWins }):
	default:
		f.addLost(u, merge.MoreSpecificWins, f.units[at].From)
	}
}
