package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// accessLogging folds the section: the last policy that names providers says which there are, and each later entry turns one on or off. The
// filter of a provider is that of the last entry that names it, whichever entry turns it on.
func (t telemetryFold) accessLogging(entries []entry) {
	defaults, _ := t.world.defaultProviders("accessLogging")
	for _, mode := range modes {
		at := func(provider, field string) merge.Path { return merge.Keys("accessLogging", provider, mode, field) }
		if len(entries) == 0 {
			for _, p := range defaults {
				if t.serves(p, "accessLogging") {
					t.set(at(p, "disabled"), false, providersLayer)
				}
			}
		}
		scope, by := logProviders(entries, mode, defaults)
		inherit(entries, defaults, func(e entry, names []string) {
			if !e.in(mode) {
				return
			}
			for _, p := range names {
				disabled, _ := e.Field("disabled").Value().(bool)
				if !slices.Contains(scope, p) {
					t.outdone(at(p, "disabled"), disabled, e.from, by)
					continue
				}
				if !t.serves(p, "accessLogging") {
					t.Lose(at(p, "disabled"), disabled, e.from, merge.Invalid)
					continue
				}
				t.set(at(p, "disabled"), disabled, e.from)
				if filter := e.Field("filter"); len(e.providers()) > 0 && !filter.IsNull() {
					t.set(at(p, "filter"), filter.Value(), e.from)
				} else if len(e.providers()) > 0 {
					t.drop(at(p, "filter"), e.from)
				}
			}
		})
		for _, p := range scope {
			if off := at(p, "disabled"); t.isOn(off) {
				t.drop(at(p, "filter"), t.from[off.String()])
			}
		}
	}
}

// logProviders are the providers of access logs: those that the last policy names which names any for the mode, and which policy that is.
func logProviders(entries []entry, mode string, scope []string) (names []string, by int) {
	by = providersLayer
	for i := 0; i < len(entries); {
		var own []string
		from := entries[i].from
		for ; i < len(entries) && entries[i].from == from; i++ {
			if entries[i].in(mode) {
				own = append(own, entries[i].providers()...)
			}
		}
		if len(own) > 0 {
			scope, by = own, from
		}
	}
	return scope, by
}
