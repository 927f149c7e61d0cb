package gatewayapi

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Hostname is one pair that survived the intersection of a route's and a listener's hostnames
// (gatewayapi G16).
type Hostname struct {
	Effective  string // the hosts that reach the route through this listener; "" is every host
	Configured string // what the route's spec says; "" if it names no hostnames
}

// AnyHost is what attachments of routes have to which hostnames mean nothing: those of TCPRoutes
// and UDPRoutes, whatever hostname the listener has (gatewayapi G16), and those to Services (G50).
var AnyHost = []Hostname{{}}

// IgnoresHostnames reports whether routes of a kind have no hostnames.
func IgnoresHostnames(gk model.GroupKind) bool { return gk == TCPRouteKind || gk == UDPRouteKind }

// CoversHostname reports whether every host that name stands for is one that pattern stands for
// (gatewayapi G16). Either may be a wildcard: *.x is any host that ends in .x with at least one
// more label, never x itself. The pattern "" covers everything.
func CoversHostname(pattern, name string) bool {
	if pattern == "" || pattern == name {
		return true
	}
	if !strings.HasPrefix(pattern, "*.") {
		return false
	}
	suffix := pattern[1:]
	return len(name) > len(suffix) && strings.HasSuffix(name, suffix)
}

// IntersectHostnames pairs the hostnames of a route, of which there is at least one, with that of a
// listener.
func IntersectHostnames(listener string, route []string) []Hostname {
	var out []Hostname
	for _, h := range route {
		switch {
		case CoversHostname(listener, h):
			out = append(out, Hostname{Effective: h, Configured: h})
		case CoversHostname(h, listener):
			out = append(out, Hostname{Effective: listener, Configured: h})
		}
	}
	return out
}
