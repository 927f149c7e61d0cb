package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// accessLogging folds the section: the last policy that names providers says which there are, and each later entry turns one on or off.
func (t telemetryFold) accessLogging(entries []entry) {
	defaults, _ := t.world.defaultProviders("accessLogging")
	for _, mode := range modes {
		if len(entries) == 0 {
			for _, p := range defaults {
				t.set(merge.Keys("accessLogging", p, mode, "disabled"), false, providersLayer)
			}
		}
		scope := logProviders(entries, mode, defaults)
		inherit(entries, defaults, func(e entry, names []string) {
			for _, p := range names {
				if !e.in(mode) || !slices.Contains(scope, p) {
					continue
				}
				off, _ := e.Field("disabled").Value().(bool)
				filter := merge.Keys("accessLogging", p, mode, "filter")
				t.set(merge.Keys("accessLogging", p, mode, "disabled"), off, e.from)
				if f := e.Field("filter"); !f.IsNull() && !off {
					t.set(filter, f.Value(), e.from)
				} else {
					t.drop(filter, e.from)
				}
			}
		})
	}
}

// logProviders are the providers of access logs: those that the last policy names which names any for the mode.
func logProviders(entries []entry, mode string, scope []string) []string {
	for i := 0; i < len(entries); {
		var own []string
		from := entries[i].from
		for ; i < len(entries) && entries[i].from == from; i++ {
			if entries[i].in(mode) {
				own = append(own, entries[i].providers()...)
			}
		}
		if len(own) > 0 {
			scope = own
		}
	}
	return scope
}
