package kgateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// layers is how the results for a Gateway, a listener and a route are in force together: the inner one's settings whole, but for those with a
// filter for each provider, timeouts, and compression.
func layers(string, model.Settings) (merge.Strategy, bool) {
	return merge.Strategy{Func: func(outer, inner []merge.Unit) ([]merge.Unit, []merge.Effect) {
		f := fold{units: slices.Clone(inner)}
		for _, u := range outer {
			f.outer(u)
		}
		return f.units, f.effects
	}}, true
}

// gatewayOnly is how ListenerPolicies are in force on a listener without TLS, which shares one configuration with all others of its port: those
// of the Gateway alone.
func gatewayOnly(string, model.Settings) (merge.Strategy, bool) {
	return merge.Strategy{Func: func(gateway, listener []merge.Unit) ([]merge.Unit, []merge.Effect) {
		f := fold{units: slices.Clone(gateway)}
		for _, u := range listener {
			f.drop(u, merge.Ignored, nil)
		}
		return f.units, f.effects
	}}, true
}

// outer adds a setting of a layer further out.
func (f *fold) outer(u merge.Unit) {
	name := rule(u.Path)
	mine := f.named(name)
	switch {
	case len(mine) == 0:
		f.take(u)
	case perProvider(name):
		f.outerProviders(u, mine)
	case name == "timeouts":
		f.outerTimeouts(u)
	case name == "compression.responseCompression" || name == "compression.requestDecompression":
		inside := f.units[mine[0]]
		if !disabled(inside.Value) && (disabled(u.Value) || !sameLibraries(inside.Value, u.Value)) {
			f.drop(u, merge.NotEvaluated, inside.From)
			return
		}
		f.drop(u, merge.MoreSpecificWins, inside.From)
	case name == "headerModifiers": // Envoy runs those of all layers, the outer ones last
		f.drop(u, merge.NotEvaluated, f.units[mine[0]].From)
	default:
		f.drop(u, merge.MoreSpecificWins, f.units[mine[0]].From)
	}
}

// named are the positions of the settings of a name, one or, where providers are told apart, several.
func (f *fold) named(name string) []int {
	var out []int
	for i, u := range f.units {
		if rule(u.Path) == name || name == "timeouts" && len(u.Path) > 1 && u.Path[0].Name == name {
			out = append(out, i)
		}
	}
	return out
}

// outerProviders adds what an outer layer says for providers that the inner ones do not name. What is turned off inside ends it; whether what
// is turned off outside ends an inner provider is not known.
func (f *fold) outerProviders(u merge.Unit, mine []int) {
	var from []merge.From
	var known []configuration
	for _, i := range mine {
		from = sources(from, f.units[i].From)
		known = append(known, configured(f.units[i])...)
	}
	switch {
	case disabled(f.units[mine[0]].Value):
		f.drop(u, merge.MoreSpecificWins, from)
		return
	case disabled(u.Value):
		f.drop(u, merge.NotEvaluated, from)
		return
	}
	more := slices.DeleteFunc(configured(u), func(p configuration) bool { return slices.ContainsFunc(known, p.same) })
	if len(more) == 0 {
		f.drop(u, merge.MoreSpecificWins, from)
		return
	}
	for _, w := range u.From { // who says nothing else
		if !slices.ContainsFunc(more, func(p configuration) bool { return slices.Contains(p.from, w) }) {
			f.drop(merge.Unit{Path: u.Path, Value: u.Value, From: []merge.From{w}}, merge.MoreSpecificWins, from)
		}
	}
	for _, i := range mine {
		if f.units[i].Path[len(f.units[i].Path)-1].Form != merge.Entry {
			f.split(i)
			break
		}
	}
	for _, p := range more {
		f.take(merge.Unit{Path: entryOf(u.Path, p.value), Value: p.value, From: p.from})
	}
}

// split makes an entry for each provider of the setting at a position.
func (f *fold) split(at int) {
	whole := f.units[at]
	var parts []merge.Unit
	for _, p := range configured(whole) {
		parts = append(parts, merge.Unit{Path: entryOf(whole.Path, p.value), Value: p.value, From: p.from})
	}
	f.units = slices.Replace(f.units, at, at+1, parts...)
}

func entryOf(at merge.Path, p map[string]any) merge.Path {
	return append(slices.Clip(at), merge.Segment{Name: provider(p), Form: merge.Entry})
}

// outerTimeouts adds the timeouts that the inner layers do not set.
func (f *fold) outerTimeouts(u merge.Unit) {
	if at := f.find(merge.Keys("timeouts")); at >= 0 {
		f.units = slices.Replace(f.units, at, at+1, fieldsOf(f.units[at])...)
	}
	for _, field := range fieldsOf(u) {
		if at := f.find(field.Path); at >= 0 {
			f.drop(field, merge.MoreSpecificWins, f.units[at].From)
		} else {
			f.take(field)
		}
	}
}

// fieldsOf cuts a setting into its fields, if it is a whole one.
func fieldsOf(u merge.Unit) []merge.Unit {
	if len(u.Path) > 1 {
		return []merge.Unit{u}
	}
	return fieldsBelow(u)
}

// fieldsBelow cuts a setting that is an object into its fields.
func fieldsBelow(u merge.Unit) []merge.Unit {
	m := model.Map(merge.Plain(u.Value))
	if m == nil {
		return []merge.Unit{u}
	}
	var out []merge.Unit
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, merge.Unit{Path: append(slices.Clip(u.Path), merge.Segment{Name: key}), Value: m[key], From: u.From})
	}
	return out
}

// sameLibraries reports whether two settings are about the same codecs: of others each has a filter of its own.
func sameLibraries(a, b any) bool {
	x, y := libraries(a), libraries(b)
	return slices.Equal(x, y)
}

func libraries(v any) []string {
	var out []string
	for _, l := range model.List(merge.Plain(v), "libraries") {
		out = append(out, model.Text(l))
	}
	if out == nil {
		return []string{"Gzip"}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
