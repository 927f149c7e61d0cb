package envoygateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// newClientPlan finds what of ClientTrafficPolicies is in force at a listener: of the most specific
// one, as a whole, but only what the listener's protocol has a use for.
func newClientPlan(idle func(path string) bool) func(model.Settings) merge.PlanFunc {
	return func(model.Settings) merge.PlanFunc {
		return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
			var units []merge.Unit
			var effects []merge.Effect
			var winner []merge.Source // nil: no winner yet
			for i, l := range slices.Backward(s.Layers) {
				own, holds, faults := readLayer(l)
				effects = append(effects, faults...)
				switch {
				case !holds:
				case winner != nil:
					effects = append(effects, droppedEffects(own, merge.AtomicReplaced, winner)...)
				default:
					winner = []merge.Source{{Layer: i, Block: merge.Bare}}
					for _, u := range own {
						if winner = u.From; idle(u.Path.String()) {
							effects = append(effects, droppedEffects([]merge.Unit{u}, merge.Ignored, nil)...)
						} else {
							units = append(units, u)
						}
					}
				}
			}
			return units, append(effects, takenEffects(units)...)
		}
	}
}

// readLayer are the settings of a layer, and whether it holds its place: one in error has none, and
// may hold its place all the same.
func readLayer(l merge.Layer) (units []merge.Unit, holds bool, effects []merge.Effect) {
	holds = true
	for _, b := range l.Blocks {
		if b.Strategy.Func != nil { // it is in error
			marks, lost := b.Strategy.Func(b.Units, nil)
			effects = append(effects, lost...)
			holds = len(marks) > 0
			continue
		}
		for _, u := range b.Units {
			if len(u.Path) > 0 && !u.Null {
				units = append(units, u)
			}
		}
	}
	return units, holds, effects
}

// idleSettings reports for the listeners of each sort which settings they have no use for.
func idleSettings() map[string]func(path string) bool {
	under := func(fields ...string) func(string) bool {
		return func(path string) bool {
			return slices.ContainsFunc(fields, func(f string) bool {
				return path == f ||
					strings.HasPrefix(path, f+".")
			})
		}
	}
	connection, secure := under("tcpKeepalive", "connection", "enableProxyProtocol", "proxyProtocol",
		"timeout.tcp"), under("tls")
	return map[string]func(string) bool{
		"envoygateway.ClientHTTP":  under("tls", "http3"),
		"envoygateway.ClientHTTPS": func(string) bool { return false },
		"envoygateway.ClientTCP":   func(path string) bool { return !connection(path) },
		"envoygateway.ClientTLS":   func(path string) bool { return !connection(path) && !secure(path) },
		"envoygateway.ClientUDP":   func(string) bool { return true },
	}
}

// clientPlans are the functions for listeners of each sort.
func clientPlans() map[string]func(model.Settings) merge.PlanFunc {
	out := map[string]func(model.Settings) merge.PlanFunc{}
	for name, idle := range idleSettings() {
		out[name] = newClientPlan(idle)
	}
	return out
}
