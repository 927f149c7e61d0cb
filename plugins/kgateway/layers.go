package kgateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// newLayerStrategy is how the results for a Gateway, a listener and a route are in force together:
// the inner one's settings whole, but for those with a filter for each provider, timeouts, and
// compression.
func newLayerStrategy(string, model.Settings) (merge.Strategy, bool) {
	return merge.Strategy{Func: func(outer, inner []merge.Unit) ([]merge.Unit, []merge.Effect) {
		f := settingFold{units: slices.Clone(inner)}
		for _, u := range outer {
			f.addOuter(u)
		}
		return f.units, f.effects
	}}, true
}

// newGatewayOnlyStrategy is how ListenerPolicies are in force on a listener without TLS, which
// shares one configuration with all others of its port: those of the Gateway alone.
func newGatewayOnlyStrategy(string, model.Settings) (merge.Strategy, bool) {
	return merge.Strategy{Func: func(gateway, listener []merge.Unit) ([]merge.Unit, []merge.Effect) {
		f := settingFold{units: slices.Clone(gateway)}
		for _, u := range listener {
			f.addLost(u, merge.Ignored, nil)
		}
		return f.units, f.effects
	}}, true
}

// addOuter adds a setting of a layer further out.
func (f *settingFold) addOuter(u merge.Unit) {
	name := settingName(u.Path)
	mine := f.findNamed(name)
	switch {
	case len(mine) == 0:
		f.addEffective(u)
	case isPerProvider(name):
		f.addOuterProviders(u, mine)
	case name == "timeouts":
		f.addOuterTimeouts(u)
	case name == "compression.responseCompression" || name == "compression.requestDecompression":
		inside := f.units[mine[0]]
		if !isDisabled(inside.Value) && (isDisabled(u.Value) || !haveSameLibraries(inside.Value, u.Value)) {
			f.addLost(u, merge.NotEvaluated, inside.From)
			return
		}
		f.addLost(u, merge.MoreSpecificWins, inside.From)
	case name == "headerModifiers": // Envoy runs those of all layers, the outer ones last
		f.addLost(u, merge.NotEvaluated, f.units[mine[0]].From)
	default:
		f.addLost(u, merge.MoreSpecificWins, f.units[mine[0]].From)
	}
}

// findNamed are the positions of the settings of a name, one or, where providers are told apart,
// several.
func (f *settingFold) findNamed(name string) []int {
	var out []int
	for i, u := range f.units {
		if settingName(u.Path) == name || name == "timeouts" && len(u.Path) > 1 && u.Path[0].Name == name {
			out = append(out, i)
		}
	}
	return out
}

// addOuterProviders adds what an outer layer says for providers that the inner ones do not name.
// What is turned off inside ends it; whether what is turned off outside ends an inner provider is
// not known.
func (f *settingFold) addOuterProviders(u merge.Unit, mine []int) {
	var from []merge.Source
	var known []providerConfig
	for _, i := range mine {
		from = mergeSources(from, f.units[i].From)
		known = append(known, listProviders(f.units[i])...)
	}
	switch {
	case isDisabled(f.units[mine[0]].Value):
		f.addLost(u, merge.MoreSpecificWins, from)
		return
	case isDisabled(u.Value):
		f.addLost(u, merge.NotEvaluated, from)
		return
	}
	more := slices.DeleteFunc(listProviders(u), func(p providerConfig) bool {
		return slices.ContainsFunc(known,
			p.isSameProvider)
	})
	if len(more) == 0 {
		f.addLost(u, merge.MoreSpecificWins, from)
		return
	}
	for _, w := range u.From { // who says nothing else
		if !slices.ContainsFunc(more, func(p providerConfig) bool { return slices.Contains(p.from, w) }) {
			f.addLost(merge.Unit{Path: u.Path, Value: u.Value, From: []merge.Source{w}}, merge.MoreSpecificWins, from)
		}
	}
	for _, i := range mine {
		if f.units[i].Path[len(f.units[i].Path)-1].Form != merge.Entry {
			f.splitProviders(i)
			break
		}
	}
	for _, p := range more {
		f.addEffective(merge.Unit{Path: providerPath(u.Path, p.value), Value: p.value, From: p.from})
	}
}

// splitProviders makes an entry for each provider of the setting at a position.
func (f *settingFold) splitProviders(at int) {
	whole := f.units[at]
	var parts []merge.Unit
	for _, p := range listProviders(whole) {
		parts = append(parts, merge.Unit{Path: providerPath(whole.Path, p.value), Value: p.value, From: p.from})
	}
	f.units = slices.Replace(f.units, at, at+1, parts...)
}

func providerPath(at merge.Path, p map[string]any) merge.Path {
	return append(slices.Clip(at), merge.Segment{Name: providerName(p), Form: merge.Entry})
}

// addOuterTimeouts adds the timeouts that the inner layers do not set.
func (f *settingFold) addOuterTimeouts(u merge.Unit) {
	if at := f.findPath(merge.KeyPath("timeouts")); at >= 0 {
		f.units = slices.Replace(f.units, at, at+1, splitFields(f.units[at])...)
	}
	for _, field := range splitFields(u) {
		if at := f.findPath(field.Path); at >= 0 {
			f.addLost(field, merge.MoreSpecificWins, f.units[at].From)
		} else {
			f.addEffective(field)
		}
	}
}

// splitFields cuts a setting into its fields, if it is a whole one.
func splitFields(u merge.Unit) []merge.Unit {
	if len(u.Path) > 1 {
		return []merge.Unit{u}
	}
	return splitObject(u)
}

// splitObject cuts a setting that is an object into its fields.
func splitObject(u merge.Unit) []merge.Unit {
	m := model.Map(merge.Unpack(u.Value))
	if m == nil {
		return []merge.Unit{u}
	}
	var out []merge.Unit
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, merge.Unit{Path: append(slices.Clip(u.Path), merge.Segment{Name: key}), Value: m[key],
			From: u.From})
	}
	return out
}

// haveSameLibraries reports whether two settings are about the same codecs: of others each has a
// filter of its own.
func haveSameLibraries(a, b any) bool {
	x, y := listLibraries(a), listLibraries(b)
	return slices.Equal(x, y)
}

func listLibraries(v any) []string {
	var out []string
	for _, l := range model.List(merge.Unpack(v), "libraries") {
		out = append(out, model.Text(l))
	}
	if out == nil {
		return []string{"Gzip"}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
