package topology

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// listener is what attachment needs to know of a listener.
type listener struct {
	owner           NodeID    // the Gateway or the ListenerSet
	ref             model.Ref // of the object that holds it, with its name as section
	hostname        string
	protocol        string
	port            int32
	kinds           []model.GroupKind // routes it takes
	admission                         // the namespaces of these
	uncertainKinds  []model.GroupKind // routes that it takes with some implementations, where whose it is may not be read
	invalidKinds    bool              // allowedRoutes names kinds that it cannot take
	invalidForKinds bool              // it is not valid for that
	unreadable      bool              // a field has the wrong type: it takes no route
	conflict        Conflict
	gaveWay         bool // a listener that comes before it has its port or hostname

	tlsMode            string     // of HTTPS and TLS; "" where it is not said
	refs               Unresolved // its certificates, and those by which it knows its clients
	withoutCertificate string     // why it has no certificate to show; "": it may have one
	refusal            Refusal
	refusalWithheld    bool // what would tell whether it is refused may not be read
	validatesClients   bool // its own spec says how it verifies clients

	acceptedReason string     // the reason of an accepted attachment
	ownHostnames   []Hostname // what a route without hostnames gets
}

// listenerTable holds the listeners of a graph, by their nodes.
type listenerTable struct {
	all   []listener
	first NodeID
}

func (ls *listenerTable) listenerAt(id NodeID) *listener { return &ls.all[id-ls.first] }

const maxListeners = 64

// gatewaySpec is a Gateway while the graph is built.
type gatewaySpec struct {
	id             NodeID
	class          string
	spec           fieldReader
	sets           admission // the namespaces of the ListenerSets that it takes
	isDefault      bool      // it takes routes that ask for default Gateways (gatewayapi G20)
	implementation Implementation
}

// gatewayBuilder adds the Gateways with their ListenerSets and listeners, and holds what these
// take, and whose they are.
type gatewayBuilder struct {
	*draft
	specs     []gatewaySpec // in order of their references
	gatewayOf map[NodeID]int
	sets      []listenerSet // by ListenerSet node, from firstSet on
	firstSet  NodeID
	listenerTable
	clientCertificates    map[NodeID]Unresolved // by Gateway with a client certificate
	unknownImplementation Implementation        // whose Gateways are of which the input does not tell the controller
	certificates          certificateJudge
	admissions            map[admissionQuery]Truth // namespaces that a selector was asked about
	names                 model.Set[string]        // of the listeners of the object at hand
}

func newGatewayBuilder(d *draft) *gatewayBuilder {
	return &gatewayBuilder{
		draft:                 d,
		gatewayOf:             map[NodeID]int{},
		clientCertificates:    map[NodeID]Unresolved{},
		unknownImplementation: d.guessImplementation(),
		certificates:          certificateJudge{d, certificateStore{in: d.in, coverage: d.coverage, makers: d.collectMade(d.in), check: d.settings.Bool(CheckCertificates)}},
		admissions:            map[admissionQuery]Truth{},
	}
}

// addTo adds what is known of Gateways to the parts of the graph.
func (gs *gatewayBuilder) addTo(p *Parts) {
	p.ClientCertificates, p.Certificates = gs.clientCertificates, gs.certificates.certificates
	p.Listeners = make(map[NodeID]*ListenerFacts, len(gs.listenerTable.all))
	for i := range gs.listenerTable.all {
		p.Listeners[gs.listenerTable.first+NodeID(i)] = gs.listenerTable.all[i].describe()
	}
	p.Implementations = map[NodeID]string{}
	for i := range gs.specs {
		if name := gs.specs[i].implementation.Name; name != "" {
			p.Implementations[gs.specs[i].id] = name
		}
	}
	p.Sets, p.SetsOf = make(map[NodeID]SetFacts, len(gs.sets)), map[NodeID][]NodeID{}
	for i := range gs.sets {
		s := &gs.sets[i]
		p.Sets[s.id] = s.SetFacts
		if s.Gateway != None {
			p.SetsOf[s.Gateway] = append(p.SetsOf[s.Gateway], s.id)
		}
	}
}

// describe returns the facts of a listener.
func (l *listener) describe() *ListenerFacts {
	return &ListenerFacts{
		Owner: l.owner, Protocol: l.protocol, Port: l.port, Hostname: l.hostname, Kinds: l.kinds, InvalidKinds: l.invalidKinds,
		Unreadable: l.unreadable, Conflict: l.conflict, Refused: l.refusal, TLSMode: l.tlsMode, Refs: l.refs,
		WithoutCertificate: l.withoutCertificate, ValidityUnknown: l.refs.gap != noGap, Unsupported: l.isUnsupported(),
		Accepted: !l.isRefused(), Valid: l.isValid(),
	}
}

// addGateways adds classes, Gateways, ListenerSets and listeners, and the edges between them.
func (gs *gatewayBuilder) addGateways() {
	for _, o := range gs.in.OfKind(gatewayClassKind) {
		gs.nodes.Add(Node{Role: GatewayClass, Ref: o.Ref, Object: o})
	}
	for _, o := range gs.in.OfKind(gatewayKind) {
		gs.addGateway(o)
	}
	gs.addSets()
	gs.listenerTable.first = NodeID(gs.nodes.Len())
	for i := range gs.specs {
		gs.addListeners(gs.specs[i].id, &gs.specs[i].spec)
	}
	for i := range gs.sets {
		gs.addListeners(gs.sets[i].id, &gs.sets[i].spec)
	}
	gs.judgeConflicts()
	for i := range gs.specs {
		gs.applyGatewayTLS(gs.specs[i].id, &gs.specs[i].spec)
	}
	gs.connectSets()
}

func (gs *gatewayBuilder) addGateway(o *model.Object) {
	g := gatewaySpec{id: gs.nodes.Add(Node{Role: Gateway, Ref: o.Ref, Object: o}), spec: gs.readSpec(o)}
	gs.addToNamespace(o.Ref.Namespace, g.id)
	if g.class = g.spec.readText("gatewayClassName"); g.class != "" {
		gs.addEdge(gs.classNode(g.class), g.id)
	}
	allowed := g.spec.readObject("allowedListeners")
	namespaces := allowed.readObject("namespaces")
	g.sets = namespaces.readAdmission("None", "the Gateway takes no listener set")
	if allowed.bad || namespaces.bad {
		g.sets = admission{}
	}
	g.isDefault = readScope(&g.spec, "defaultScope")
	g.implementation = gs.implementationOfClass(g.class)
	gs.gatewayOf[g.id] = len(gs.specs)
	gs.specs = append(gs.specs, g)
}

// addListeners adds the listeners of a Gateway or a ListenerSet. One without a readable name has no node.
func (gs *gatewayBuilder) addListeners(owner NodeID, spec *fieldReader) {
	list, at := spec.readList("listeners"), spec.at.atField("listeners")
	gs.checkLimit(list.Len(), maxListeners, at)
	gs.names.Clear()
	for i, v := range list.Items {
		f := gs.readEntry(v, at.atEntry(i))
		name := f.readText("name")
		if f.bad {
			continue
		}
		if name == "" {
			gs.reportSkipped(f.at, "has no name")
			continue
		}
		if gs.names.Has(name) {
			gs.reportInvalid(f.at, "more than one listener is called "+quoteName(name))
		}
		gs.names.Add(name)
		ref := at.object.Ref.WithSection(name)
		gs.addEdge(owner, gs.nodes.AddPart(owner, Node{Role: Listener, Ref: ref, Object: at.object, Index: i}))
		gs.listenerTable.all = append(gs.listenerTable.all, gs.readListener(&f, ref, owner))
	}
}

func (gs *gatewayBuilder) readListener(f *fieldReader, ref model.Ref, owner NodeID) listener {
	l := listener{owner: owner, ref: ref, acceptedReason: "listener " + ref.Section + " accepts the route"}
	l.hostname = f.readText("hostname")
	l.ownHostnames = []Hostname{{Effective: l.hostname}}
	l.port = f.readPort("port")
	protocol := f.readText("protocol")
	l.protocol = protocol
	allowed := f.readObject("allowedRoutes")
	whose := gs.implementationAt(owner)
	gs.readKinds(&l, &allowed, whose.routeKindsFor(protocol, f.body.Field("tls").Text("mode")))
	l.invalidForKinds = l.invalidKinds && whose.RefusesWrongKinds
	if named := allowed.body.Field("kinds"); named.Len() == 0 && gs.mayTakeTCP(owner, protocol, f.body.Field("tls").Text("mode")) {
		l.uncertainKinds = []model.GroupKind{tcpRouteKind}
	}
	namespaces := allowed.readObject("namespaces")
	l.admission = namespaces.readAdmission("Same", "the listener takes no route")
	l.unreadable = f.bad || allowed.bad || namespaces.bad
	gs.certificates.readTLS(&l, f)
	return l
}

// readKinds intersects the kinds of allowedRoutes with those that the protocol takes (gatewayapi G13).
func (gs *gatewayBuilder) readKinds(l *listener, allowed *fieldReader, standard []model.GroupKind) {
	foreign := standard == nil && strings.Contains(l.protocol, "/")
	if foreign {
		gs.addNamedNote(noteTopic{kind: protocolNotEvaluated, about: model.Ref{Name: l.protocol}}, l.ref.String(), allowed.at.object)
	}
	list := allowed.readList("kinds")
	if list.Len() == 0 {
		l.kinds = standard
		return
	}
	for i, v := range list.Items {
		f := gs.readEntry(v, allowed.at.atField("kinds").atEntry(i))
		gk := model.GroupKind{Group: f.readTextOr("group", gatewayGroup), Kind: f.readText("kind")}
		if !f.bad && (foreign || slices.Contains(standard, gk)) {
			l.kinds = append(l.kinds, gk)
		} else {
			l.invalidKinds = true
		}
	}
}

// isValid reports whether a ListenerSet may count on the listener (gatewayapi G22): its protocol is
// supported, no other listener is in its way, and its references are not known to be bad.
func (l *listener) isValid() bool { return !l.isRefused() && l.refs.Reason == "" }

// isRefused reports whether the listener itself is not accepted, so that it does not count as one
// of its Gateway (gatewayapi G29).
func (l *listener) isRefused() bool {
	return l.isUnsupported() || l.invalidForKinds || l.conflict != (Conflict{}) || l.refusal.Reason != ""
}

// isUnsupported reports whether the protocol is none of the Gateway API's, nor one with a domain.
func (l *listener) isUnsupported() bool {
	return kindsByProtocol(l.protocol) == nil && !strings.Contains(l.protocol, "/")
}
