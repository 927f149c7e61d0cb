package topology

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Conflict says why a listener of a Gateway is refused: it cannot be told from others of the same Gateway (gatewayapi G26, G27), none of
// which wins (G28). The zero value is no conflict.
type Conflict struct {
	Reason  string // HostnameConflict or ProtocolConflict
	Message string
}

// conflicts finds the listeners of one Gateway that cannot be told apart: by port and protocol, then by port and hostname.
func (b *builder) conflicts(gateway NodeID) {
	parts := b.nodes[gateway].parts
	if parts.n < 2 {
		return
	}
	all := b.listeners[parts.first-b.firstListener:][:parts.n]
	type socket struct {
		udp  bool
		port int32
	}
	byPort := map[socket][]*listener{}
	for i := range all {
		l := &all[i]
		if l.port != 0 && kindsByProtocol(l.protocol) != nil {
			at := socket{l.protocol == "UDP", l.port}
			byPort[at] = append(byPort[at], l)
		}
	}
	var names []string
	for _, ls := range byPort {
		names = append(names, refuse(ls)...)
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	b.problem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
		Message: "listeners " + strings.Join(names, ", ") + " cannot be told apart: none of them takes traffic",
		Hint:    "give each a port, or a hostname, of its own"}, b.nodes[gateway].Object, "spec", "listeners")
}

// refuse marks those of the listeners of one port that conflict, and returns their names.
func refuse(ls []*listener) []string {
	if !compatible(ls) {
		return mark(ls, "ProtocolConflict", "protocols that do not go together share the port")
	}
	byHostname := map[string][]*listener{}
	for _, l := range ls {
		byHostname[l.hostname] = append(byHostname[l.hostname], l)
	}
	var names []string
	for _, same := range byHostname {
		names = append(names, mark(same, "HostnameConflict", "the same hostname on the same port")...)
	}
	return names
}

// compatible reports whether listeners of these protocols can share a port: those of one protocol that has hostnames, and HTTPS with TLS.
func compatible(ls []*listener) bool {
	if len(ls) < 2 {
		return true
	}
	family := func(l *listener) string {
		if l.protocol == "HTTPS" {
			return "TLS"
		}
		return l.protocol
	}
	return !slices.ContainsFunc(ls, func(l *listener) bool {
		return l.protocol == "TCP" || l.protocol == "UDP" || family(l) != family(ls[0])
	})
}

// mark refuses listeners that conflict; one by itself does not.
func mark(ls []*listener, reason, what string) []string {
	if len(ls) < 2 {
		return nil
	}
	var names []string
	for _, l := range ls {
		names = append(names, l.ref.Section)
	}
	for _, l := range ls {
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == l.ref.Section })
		l.conflict = Conflict{Reason: reason, Message: what + " as listener " + strings.Join(others, ", ")}
		l.accepts = "listener " + l.ref.Section + " accepts the route, and takes no traffic: " + l.conflict.Message
	}
	return names
}
