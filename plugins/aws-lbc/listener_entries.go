package awslbc

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// listenerProtocols are the protocols of the ports of a Gateway, as the controller sees them: TLS that
// is passed through is TCP, and TCP and UDP of one port are TCP_UDP (aws-load-balancer-controller
// 225f44568, pkg/gateway/model/model_build_listener.go, mapGatewayListenerConfigsByPort).
type listenerProtocols map[string]string

// readProtocols reads the fact that lists the listeners of a Gateway.
func readProtocols(listeners string) listenerProtocols {
	out := listenerProtocols{}
	for _, text := range strings.Fields(listeners) {
		words := strings.Split(text, ":")
		protocol, port := words[0], words[1]
		if protocol == "TLS" && len(words) > 2 && words[2] == "Passthrough" {
			protocol = "TCP"
		}
		switch first, known := out[port]; {
		case !known:
			out[port] = protocol
		case first != protocol && slices.Contains([]string{"TCP", "UDP", "TCP_UDP"}, first) &&
			slices.Contains([]string{"TCP", "UDP"}, protocol):
			out[port] = "TCP_UDP"
		}
	}
	return out
}

// findMismatch is the protocol of the port that an entry is for, if it is another one: the controller
// drops such an entry, and nothing says so. An entry for a port without a listener stays in what
// configurations are merged into, and does nothing.
func (p listenerProtocols) findMismatch(protocolPort string) string {
	protocol, port, _ := strings.Cut(protocolPort, ":")
	if strings.EqualFold(p[port], protocol) {
		return ""
	}
	return p[port]
}

// foldListeners merges the entries for listeners: of two for one protocol and port that of the
// configuration with priority is in force as a whole, and those for another protocol than the
// listener's are not.
func foldListeners(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	protocols := readProtocols(s.Fact("listeners"))
	f := fieldFold{layers: s.Layers}
	for _, i := range listByPriority(s) {
		for _, b := range s.Layers[i].Blocks {
			var used, unused []merge.Unit
			for _, u := range b.Units {
				if protocols.findMismatch(nameEntry(u)) == "" {
					used = append(used, u)
				} else {
					unused = append(unused, u)
				}
			}
			f.fillMissing(used, i)
			f.addLost(unused, merge.Ignored)
		}
	}
	slices.SortStableFunc(f.units, func(a, b merge.Unit) int { return strings.Compare(nameEntry(a), nameEntry(b)) })
	return f.units, f.effects
}

// nameEntry is the protocol and port of an entry; "" of a list without entries.
func nameEntry(u merge.Unit) string {
	if len(u.Path) < 2 {
		return ""
	}
	return u.Path[1].Name
}
