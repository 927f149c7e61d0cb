package kgateway

import (
	"encoding/json"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The values of the annotation with which a route says how its policies meet those of the routes that it delegates to.
const (
	shallowChild  = "ShallowMergePreferChild"
	shallowParent = "ShallowMergePreferParent"
	deepChild     = "DeepMergePreferChild"
	deepParent    = "DeepMergePreferParent"
)

// level merges the policies of one route, listener or Gateway: the most specific first, then in their order, setting by setting. What is
// set already stays; acl, and what the setting policyMerge says, is combined. Where one of them is in error kgateway takes nothing of theirs.
func level(s model.Settings) merge.PlanFunc {
	deep := deepRules(s)
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		var f fold
		if slices.ContainsFunc(s.Layers, func(l merge.Layer) bool { return l.Faulty }) {
			return nil, nil
		}
		for _, at := range precedence(s.Layers) {
			reason := func(to []merge.From) merge.Reason { return lossReason(s.Layers, at, to) }
			for _, b := range s.Layers[at].Blocks {
				for _, u := range f.forwarded(b.Units, reason) {
					f.below(u, deep[rule(u.Path)], reason)
				}
			}
		}
		return f.units, f.effects
	}
}

// deepRules are the settings that policies of one level share: acl, unless policyMerge says otherwise, and what it names.
func deepRules(s model.Settings) map[string]bool {
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

// precedence orders layers as they are merged: the most specific place first, and in a place the established policy first.
func precedence(all []merge.Layer) []int {
	var out []int
	for end := len(all); end > 0; {
		start := end - 1
		for start > 0 && samePlace(all[start-1], all[end-1]) {
			start--
		}
		for i := start; i < end; i++ {
			out = append(out, i)
		}
		end = start
	}
	return out
}

func samePlace(a, b merge.Layer) bool {
	return a.Level == b.Level && a.Hop == b.Hop && a.Target == b.Target
}

// lossReason says why a layer lost to others.
func lossReason(all []merge.Layer, loser int, to []merge.From) merge.Reason {
	for _, w := range to {
		if !samePlace(all[loser], all[w.Layer]) {
			return merge.MoreSpecificWins
		}
	}
	return merge.SameLevelOrder
}

// below merges a setting of less weight into what is there.
func (f *fold) below(u merge.Unit, deep bool, reason func([]merge.From) merge.Reason) {
	if len(u.Path) == 2 && u.Path[0].Name == "perPort" && f.port(u, reason) {
		return
	}
	at := f.find(u.Path)
	if at < 0 {
		f.take(u)
		return
	}
	if deep {
		if f.deep(at, u, false, reason) {
			return
		}
	}
	f.drop(u, reason(f.units[at].From), f.units[at].From)
}

// inherited is how the policies of a route that delegates meet those below it.
func inherited(raw string, _ model.Settings) (merge.Strategy, bool) {
	switch raw {
	case shallowParent, deepChild, deepParent:
	default:
		raw = shallowChild
	}
	wins := merge.Higher // which is asked of settings of routes themselves: of these a parent has all that it is said to come first in
	if raw == shallowChild {
		wins = merge.Lower
	}
	return merge.Strategy{Wins: wins, Func: func(parent, child []merge.Unit) ([]merge.Unit, []merge.Effect) {
		f := fold{units: append([]merge.Unit(nil), child...)}
		for _, u := range parent {
			f.inherit(u, raw)
		}
		return f.units, f.effects
	}}, true
}

// inherit merges a parent's setting into its child's. DeepMergePreferParent prefers the parent only in what it can combine: whole settings
// of the child stay.
func (f *fold) inherit(u merge.Unit, how string) {
	at := f.find(u.Path)
	switch {
	case at < 0:
		f.take(u)
	case how == shallowParent:
		f.replace(at, u, merge.LessSpecificOverrides)
	case how != shallowChild && f.deep(at, u, how == deepParent, func([]merge.From) merge.Reason { return merge.MoreSpecificWins }):
	default:
		f.drop(u, merge.MoreSpecificWins, f.units[at].From)
	}
}
