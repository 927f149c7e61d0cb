package build

import (
	"cmp"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// The TLS modes.
const (
	modeTerminate   = "Terminate"
	modePassthrough = "Passthrough"
)

// readTLS judges the certificates of a listener, of a Gateway or of another owner. A listener whose
// certificate is bad still takes routes, and its paths stay: ResolvedRefs=False alone refuses
// nothing (gatewayapi G22 and G29 do by what is not accepted), the implementation may have other
// certificates for it, and the policies behind it are what they are (as G35 for backends).
func (c *certificateJudge) readTLS(l *listener, f *manifest.Fields) {
	if l.protocol != "HTTPS" && l.protocol != "TLS" || !f.HasField("tls") && l.protocol == "TLS" {
		return // a TLS listener has to say its mode (G5)
	}
	tls := f.ReadObject("tls")
	l.tlsMode = tls.ReadTextOr("mode", modeTerminate)
	switch l.tlsMode {
	case modeTerminate:
	case modePassthrough:
		return // references are ignored
	default:
		at := tls.At.AtField("mode")
		c.ReportInvalid(at, at.String()+" is "+l.tlsMode+", which is neither Terminate nor Passthrough")
		return
	}
	own := c.judgeCertificates(l.ref, tls.ReadList("certificateRefs"), tls.At.AtField("certificateRefs"), serverUse)
	l.refs = own.Unresolved
	if own.isBroken() {
		l.withoutCertificate = own.Message
	}
	if l.protocol == "TLS" && c.settings.IsOff(gatewayapi.TLSTerminate) {
		l.setRefusal(topology.Refusal{Reason: string(gatewayv1.ListenerReasonUnsupportedValue),
			Message: "TLS mode Terminate is not supported (" + gatewayapi.TLSTerminate + ")"})
	} else if l.protocol == "TLS" {
		c.addNamedNote(noteTopic{kind: terminatesTLS}, l.ref.String(), nil)
	}
	clients := tls.ReadObject("frontendValidation") // experimental, gone since it stands at the Gateway
	c.setAuthorities(l, c.readAuthorities(&clients))
	l.validatesClients = clients.HasField("caCertificateRefs")
}

// setRefusal is for what makes Accepted=False; the first reason stays.
func (l *listener) setRefusal(r topology.Refusal) {
	if l.refusal.Reason != "" {
		return
	}
	l.refusal = r
	if r.Reason != "" {
		l.acceptedReason = "listener " + l.ref.Section + " accepts the route, and takes no traffic: " + r.Message
	}
}

// isIdle reports whether no path leads through the listener: no traffic passes it (gatewayapi G29),
// or a cluster withholds whether it does, which is as with the labels of a namespace (G14).
func (l *listener) isIdle() bool {
	return l.invalidForKinds || l.conflict != (topology.Conflict{}) || l.refusal.Reason != "" || l.refusalWithheld ||
		l.unserved
}

// applyMissingCertificates takes listeners without certificates out of what implementations serve
// that need them.
func (gs *gatewayBuilder) applyMissingCertificates() {
	for i := range gs.listenerTable.all {
		l := &gs.listenerTable.all[i]
		if !gs.implementationAt(l.owner).NeedsCertificates {
			continue
		}
		l.countsAccepted = true
		if l.withoutCertificate == "" {
			continue
		}
		// the condition about the certificates takes the place of the one about kinds of routes
		l.unserved, l.invalidKinds, l.invalidForKinds = true, false, false
		l.acceptedReason = "listener " + l.ref.Section + " accepts the route, and takes no traffic: " + l.withoutCertificate
		if reason := string(gatewayv1.ListenerReasonRefNotPermitted); l.refs.Reason == reason {
			l.setRefusal(topology.Refusal{Reason: reason, Message: l.withoutCertificate})
		}
	}
}

// readAuthorities reads the references to the certificates by which clients are known.
func (c *certificateJudge) readAuthorities(validation *manifest.Fields) certificateRefs {
	at := validation.At.AtField("caCertificateRefs")
	return c.judgeCertificates(at.Object.Ref, validation.ReadList("caCertificateRefs"), at, authorityUse)
}

// setAuthorities lets a listener know its clients by certificates: it is not accepted if none of
// them is good (gatewayapi G58). What is not in the input is taken to be good (as G36), but not
// what needs grants that a cluster withholds.
func (c *certificateJudge) setAuthorities(l *listener, by certificateRefs) {
	l.refs = l.refs.OrElse(by.Unresolved)
	switch {
	case !by.given || by.good:
	case by.isBroken():
		l.withoutCertificate = cmp.Or(l.withoutCertificate, by.Message)
		l.setRefusal(topology.Refusal{Reason: string(gatewayv1.ListenerReasonNoValidCACertificate),
			Message: "no CA certificate is valid: " + by.Message})
	default:
		l.setRefusal(topology.Refusal{Message: "it is unknown whether a CA certificate is valid: " + by.unknown})
		if by.Gap == reference.GrantGap {
			l.refusalWithheld = true
			c.addNamedNote(noteTopic{kind: authorityWithheld}, l.ref.String(), nil)
		}
	}
}

// clientAuthorities is how a Gateway knows its clients: by a default, and by what is said for
// single ports instead.
type clientAuthorities struct {
	byDefault certificateRefs
	byPort    map[int32]certificateRefs
}

// readClientAuthorities reads spec.tls.frontend of a Gateway.
func (c *certificateJudge) readClientAuthorities(spec *manifest.Fields) clientAuthorities {
	tls := spec.ReadObject("tls")
	front := tls.ReadObject("frontend")
	usual := front.ReadObject("default")
	validation := usual.ReadObject("validation")
	out := clientAuthorities{byDefault: c.readAuthorities(&validation)}
	list, at := front.ReadList("perPort"), front.At.AtField("perPort")
	if list.Len() > 0 {
		out.byPort = map[int32]certificateRefs{}
	}
	for i, v := range list.Items {
		f := c.ReadEntry(v, at.AtEntry(i))
		port, inner := f.ReadPort("port"), f.ReadObject("tls")
		validation := inner.ReadObject("validation")
		if _, twice := out.byPort[port]; twice {
			c.ReportInvalid(f.At, f.At.String()+" repeats the port of an earlier entry and is ignored")
		} else if port != 0 {
			out.byPort[port] = c.readAuthorities(&validation)
		}
	}
	return out
}

// forListener returns what a listener knows its clients by: only those that handle HTTPS have
// clients with certificates.
func (f clientAuthorities) forListener(l *listener) certificateRefs {
	if l.protocol != "HTTPS" || l.validatesClients {
		return certificateRefs{}
	}
	if by, ok := f.byPort[l.port]; ok {
		return by
	}
	return f.byDefault
}

// applyGatewayTLS applies what a Gateway says about TLS to itself and to its own listeners.
func (gs *gatewayBuilder) applyGatewayTLS(gateway topology.NodeID, spec *manifest.Fields) {
	front := gs.certificates.readClientAuthorities(spec)
	all := gs.listenersOf(gateway)
	for i := range all {
		gs.certificates.setAuthorities(&all[i], front.forListener(&all[i]))
	}
	gs.separateModes(gateway, all)
	tls := spec.ReadObject("tls")
	backend := tls.ReadObject("backend")
	if ref := backend.Body.Field("clientCertificateRef"); !ref.IsNull() {
		gs.clientCertificates[gateway] = gs.certificates.judgeCertificate(gs.nodes.Node(gateway).Ref, ref,
			backend.At.AtField("clientCertificateRef"), clientUse)
	}
}

// separateModes refuses TLS listeners of both modes on one port, where the implementation cannot
// have them. As inside one Gateway none of them wins (G28). HTTPS beside TLS is another matter, and
// fine (G27).
func (gs *gatewayBuilder) separateModes(gateway topology.NodeID, all []listener) {
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
		if !gs.settings.IsOff(gatewayapi.TLSModeMixed) {
			gs.addNamedNote(noteTopic{kind: mixesModes}, l.ref.String(), nil)
			continue
		}
		r := topology.Refusal{Reason: protocolConflict, Message: "TLS listeners of both modes share port " +
			manifest.FormatInt(int(l.port)) + ", which is not supported (" + gatewayapi.TLSModeMixed + ")"}
		l.setRefusal(r)
		if l.conflict == (topology.Conflict{}) {
			l.conflict = topology.Conflict{Reason: r.Reason, Message: r.Message, Settled: true}
		}
		names = append(names, l.ref.Section)
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	gs.AddProblem(model.Problem{Severity: model.Warning, Code: model.ListenerConflict,
		Message: "listeners " + strings.Join(names, ", ") +
			" have different TLS modes on one port: none of them takes traffic",
		Hint: "give each mode a port of its own, or set " + gatewayapi.TLSModeMixed +
			" if the implementation supports it"}, gs.nodes.Node(gateway).Object, "spec", "listeners")
}
