package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// foldAccessLogging folds the section: the last policy that names providers says which there are,
// and each later entry turns one on or off. The filter of a provider is that of the last entry that
// names it, whichever entry turns it on.
func (t telemetryFold) foldAccessLogging(entries []sectionEntry) {
	defaults, _ := t.world.defaultProviders("accessLogging")
	for _, mode := range modes {
		at := func(provider, field string) merge.Path { return merge.KeyPath("accessLogging", provider, mode, field) }
		if len(entries) == 0 {
			for _, p := range defaults {
				if t.hasProvider(p, "accessLogging") {
					t.setValue(at(p, "disabled"), false, providersLayer)
				}
			}
		}
		scope, by := findLogProviders(entries, mode, defaults)
		eachWithProviders(entries, defaults, func(e sectionEntry, names []string) {
			if !e.isForMode(mode) {
				return
			}
			for _, p := range names {
				disabled, _ := e.Field("disabled").Value().(bool)
				if !slices.Contains(scope, p) {
					t.addReplaced(at(p, "disabled"), disabled, e.from, by)
					continue
				}
				if !t.hasProvider(p, "accessLogging") {
					t.Lose(at(p, "disabled"), disabled, e.from, merge.Invalid)
					continue
				}
				t.setValue(at(p, "disabled"), disabled, e.from)
				if filter := e.Field("filter"); len(e.providerNames()) > 0 && !filter.IsNull() {
					t.setValue(at(p, "filter"), filter.Value(), e.from)
				} else if len(e.providerNames()) > 0 {
					t.dropValue(at(p, "filter"), e.from)
				}
			}
		})
		for _, p := range scope {
			if off := at(p, "disabled"); t.isOn(off) {
				t.dropValue(at(p, "filter"), t.from[off.String()])
			}
		}
	}
}

// findLogProviders returns the providers of access logs: those that the last policy names which
// names any for the mode, and which policy that is.
func findLogProviders(entries []sectionEntry, mode string, scope []string) (names []string, by int) {
	by = providersLayer
	for i := 0; i < len(entries); {
		var own []string
		from := entries[i].from
		for ; i < len(entries) && entries[i].from == from; i++ {
			if entries[i].isForMode(mode) {
				own = append(own, entries[i].providerNames()...)
			}
		}
		if len(own) > 0 {
			scope, by = own, from
		}
	}
	return scope, by
}
