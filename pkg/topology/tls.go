package topology

import (
	"cmp"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Refusal says why a listener has Accepted=False although its protocol is known: the condition's reason, and a sentence. The zero value is
// none; without a Reason it is not known whether there is one. No traffic passes a refused listener, while routes attach to it and are
// counted all the same (gatewayapi G29).
type Refusal struct{ Reason, Message string }

// The TLS modes.
const (
	terminate   = "Terminate"
	passthrough = "Passthrough"
)

// readTLS judges the certificates of a listener, of a Gateway or of another owner. A listener whose certificate is bad still takes routes,
// and its paths stay: ResolvedRefs=False alone refuses nothing (gatewayapi G22 and G29 do by what is not accepted), the implementation may
// have other certificates for it, and the policies behind it are what they are (as G35 for backends).
func (c *certifier) readTLS(l *listener, f *fields) {
	if l.protocol != "HTTPS" && l.protocol != "TLS" || !f.has("tls") && l.protocol == "TLS" {
		return // a TLS listener has to say its mode (G5)
	}
	tls := f.object("tls")
	l.tlsMode = tls.textOr("mode", terminate)
	switch l.tlsMode {
	case terminate:
	case passthrough:
		return // references are ignored
	default:
		at := tls.at.field("mode")
		c.invalid(at, at.String()+" is "+l.tlsMode+", which is neither Terminate nor Passthrough")
		return
	}
	own := c.referAll(l.ref, tls.list("certificateRefs"), tls.at.field("certificateRefs"), serverUse)
	l.refs = own.Unresolved
	if own.broken() {
		l.bare = own.Message
	}
	if l.protocol == "TLS" && c.settings.Off(TLSTerminate) {
		l.reject(Refusal{string(gatewayv1.ListenerReasonUnsupportedValue), "TLS mode Terminate is not supported (" + TLSTerminate + ")"})
	} else if l.protocol == "TLS" {
		c.noteName(topic{what: terminatesTLS}, l.ref.String(), nil)
	}
	clients := tls.object("frontendValidation") // experimental, gone since it stands at the Gateway
	c.know(l, c.readAuthorities(&clients))
	l.validated = clients.has("caCertificateRefs")
}

// reject is for what makes Accepted=False; the first reason stays.
func (l *listener) reject(r Refusal) {
	if l.refusal.Reason != "" {
		return
	}
	l.refusal = r
	if r.Reason != "" {
		l.accepts = "listener " + l.ref.Section + " accepts the route, and takes no traffic: " + r.Message
	}
}

// idle reports whether no path leads through the listener: no traffic passes it (gatewayapi G29), or a cluster withholds whether it does,
// which is as with the labels of a namespace (G14).
func (l *listener) idle() bool {
	return l.void || l.conflict != (Conflict{}) || l.refusal.Reason != "" || l.dark
}

// readAuthorities reads the references to the certificates by which clients are known.
func (c *certifier) readAuthorities(validation *fields) references {
	at := validation.at.field("caCertificateRefs")
	return c.referAll(at.object.Ref, validation.list("caCertificateRefs"), at, authorityUse)
}

// know lets a listener know its clients by certificates: it is not accepted if none of them is good (gatewayapi G58). What is not in the
// input is taken to be good (as G36), but not what needs grants that a cluster withholds.
func (c *certifier) know(l *listener, by references) {
	l.refs = l.refs.or(by.Unresolved)
	switch {
	case !by.given || by.good:
	case by.broken():
		l.bare = cmp.Or(l.bare, by.Message)
		l.reject(Refusal{string(gatewayv1.ListenerReasonNoValidCACertificate), "no CA certificate is valid: " + by.Message})
	default:
		l.reject(Refusal{Message: "it is unknown whether a CA certificate is valid: " + by.unknown})
		if by.gap == grantGap {
			l.dark = true
			c.noteName(topic{what: authorityWithheld}, l.ref.String(), nil)
		}
	}
}

// frontend is how a Gateway knows its clients: by a default, and by what is said for single ports instead.
type frontend struct {
	usual  references
	byPort map[int32]references
}

// readFrontend reads spec.tls.frontend of a Gateway.
func (c *certifier) readFrontend(spec *fields) frontend {
	tls := spec.object("tls")
	front := tls.object("frontend")
	usual := front.object("default")
	validation := usual.object("validation")
	out := frontend{usual: c.readAuthorities(&validation)}
	list, at := front.list("perPort"), front.at.field("perPort")
	if list.Len() > 0 {
		out.byPort = map[int32]references{}
	}
	for i, v := range list.Items {
		f := c.entry(v, at.entry(i))
		port, inner := f.port("port"), f.object("tls")
		validation := inner.object("validation")
		if _, twice := out.byPort[port]; twice {
			c.invalid(f.at, f.at.String()+" repeats the port of an earlier entry and is ignored")
		} else if port != 0 {
			out.byPort[port] = c.readAuthorities(&validation)
		}
	}
	return out
}

// of is what a listener knows its clients by: only those that handle HTTPS have clients with certificates.
func (f frontend) of(l *listener) references {
	if l.protocol != "HTTPS" || l.validated {
		return references{}
	}
	if by, ok := f.byPort[l.port]; ok {
		return by
	}
	return f.usual
}

// secure applies what a Gateway says about TLS to itself and to its own listeners.
func (gs *gateways) secure(gateway NodeID, spec *fields) {
	front := gs.trust.readFrontend(spec)
	all := gs.listenersOf(gateway)
	for i := range all {
		gs.trust.know(&all[i], front.of(&all[i]))
	}
	gs.separateModes(gateway, all)
	tls := spec.object("tls")
	backend := tls.object("backend")
	if ref := backend.m.Field("clientCertificateRef"); !ref.IsNull() {
		gs.clients[gateway] = gs.trust.refer(gs.nodes[gateway].Ref, ref, backend.at.field("clientCertificateRef"), clientUse)
	}
}

// separateModes refuses TLS listeners of both modes on one port, where the implementation cannot have them (gatewayapi §6). As inside one
// Gateway none of them wins (G28). HTTPS beside TLS is another matter, and fine (G27).
func (gs *gateways) separateModes(gateway NodeID, all []listener) {
	modes := map[int32]map[string]bool{}
	for i := range all {
		if l := &all[i]; l.protocol == "TLS" && l.tlsMode != "" && l.port != 0 {
			if modes[l.port] == nil {
				modes[l.port] = map[string]bool{}
			}
			modes[l.port][l.tlsMode] = true
		}
	}
	var names []string
	for i := range all {
		l := &all[i]
		if l.protocol != "TLS" || l.tlsMode == "" || len(modes[l.port]) < 2 {
			continue
		}
		if !gs.settings.Off(TLSModeMixed) {
			gs.noteName(topic{what: mixesModes}, l.ref.String(), nil)
			continue
		}
		r := Refusal{protocolConflict, "TLS listeners of both modes share port " + itoa(int(l.port)) + ", which is not supported (" + TLSModeMixed + ")"}
		l.reject(r)
		if l.conflict == (Conflict{}) {
			l.conflict = Conflict{Reason: r.Reason, Message: r.Message, Settled: true}
		}
		names = append(names, l.ref.Section)
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	gs.problem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
		Message: "listeners " + strings.Join(names, ", ") + " have different TLS modes on one port: none of them takes traffic",
		Hint:    "give each mode a port of its own, or set " + TLSModeMixed + " if the implementation supports it"}, gs.nodes[gateway].Object, "spec", "listeners")
}
