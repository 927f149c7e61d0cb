package build

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// listener is what attachment needs to know of a listener.
type listener struct {
	owner              topology.NodeID // the Gateway or the ListenerSet
	ref                model.Ref       // of the object that holds it, with its name as section
	hostname           string
	protocol           string
	port               int32
	kinds              []model.GroupKind // routes it takes
	selector.Admission                   // the namespaces of these
	// routes that it takes with some implementations, where whose it is may not be read
	uncertainKinds  []model.GroupKind
	invalidKinds    bool // allowedRoutes names kinds that it cannot take
	invalidForKinds bool // it is not valid for that
	unreadable      bool // a field has the wrong type: it takes no route
	conflict        topology.Conflict
	gaveWay         bool // a listener that comes before it has its port or hostname

	tlsMode            string               // of HTTPS and TLS; "" where it is not said
	refs               reference.Unresolved // its certificates, and those by which it knows its clients
	withoutCertificate string               // why it has no certificate to show; "": it may have one
	unserved           bool                 // for that it is not part of any proxy
	countsAccepted     bool                 // it counts as valid if it is accepted, whatever its references
	refusal            topology.Refusal
	refusalWithheld    bool // what would tell whether it is refused may not be read
	validatesClients   bool // its own spec says how it verifies clients

	acceptedReason string                // the reason of an accepted attachment
	ownHostnames   []gatewayapi.Hostname // what a route without hostnames gets
}

// listenerTable holds the listeners of a graph, by their nodes.
type listenerTable struct {
	all   []listener
	first topology.NodeID
}

func (ls *listenerTable) listenerAt(id topology.NodeID) *listener { return &ls.all[id-ls.first] }

// describe returns the facts of a listener.
func (l *listener) describe() *topology.ListenerFacts {
	return &topology.ListenerFacts{
		Owner: l.owner, Protocol: l.protocol, Port: l.port, Hostname: l.hostname, Kinds: l.kinds,
		InvalidKinds: l.invalidKinds, OwnNamespace: l.Admission.From == "Same",
		Unreadable: l.unreadable, Conflict: l.conflict, Refused: l.refusal, TLSMode: l.tlsMode, Refs: l.refs,
		WithoutCertificate: l.withoutCertificate, ValidityUnknown: l.refs.Gap != reference.NoGap,
		Unsupported: l.isUnsupported(),
		Accepted:    !l.isRefused(), Valid: l.isValid(),
	}
}

// isValid reports whether a ListenerSet may count on the listener (gatewayapi G22): its protocol is
// supported, no other listener is in its way, and its references are not known to be bad, unless the
// implementation does not ask for that.
func (l *listener) isValid() bool { return !l.isRefused() && (l.refs.Reason == "" || l.countsAccepted) }

// isRefused reports whether the listener itself is not accepted, so that it does not count as one
// of its Gateway (gatewayapi G29).
func (l *listener) isRefused() bool {
	return l.isUnsupported() || l.invalidForKinds || l.conflict != (topology.Conflict{}) || l.refusal.Reason != ""
}

// isUnsupported reports whether the protocol is none of the Gateway API's, nor one with a domain.
func (l *listener) isUnsupported() bool {
	return gatewayapi.KindsByProtocol(l.protocol) == nil && !strings.Contains(l.protocol, "/")
}
