package topology

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// listener is what attachment needs to know of a listener.
type listener struct {
	owner        NodeID    // the Gateway or the ListenerSet
	ref          model.Ref // of the object that holds it, with its name as section
	hostname     string
	protocol     string
	port         int32
	kinds        []model.GroupKind // routes it takes
	admission                      // the namespaces of these
	doubtful     []model.GroupKind // routes that it takes with some implementations, where whose it is may not be read
	invalidKinds bool              // allowedRoutes names kinds that it cannot take
	void         bool              // it is not valid for that
	unreadable   bool              // a field has the wrong type: it takes no route
	conflict     Conflict
	outdone      bool // one that comes before it has what it wants

	tlsMode   string     // of HTTPS and TLS; "" where it is not said
	refs      Unresolved // its certificates, and those by which it knows its clients
	bare      string     // why there is no certificate that it could show; "": there may be one
	refusal   Refusal
	dark      bool // it is withheld whether it is refused
	validated bool // it says itself how it knows its clients

	accepts string     // the reason of an accepted attachment
	whole   []Hostname // what a route without hostnames gets
}

// listeners are those of a graph, by their nodes.
type listeners struct {
	all   []listener
	first NodeID
}

func (ls *listeners) listener(id NodeID) *listener { return &ls.all[id-ls.first] }

// Hostname is that of a listener; "": every host.
func (ls *listeners) Hostname(listener NodeID) string { return ls.listener(listener).hostname }

const mostListeners = 64

// gatewaySpec is a Gateway while the graph is built.
type gatewaySpec struct {
	id       NodeID
	class    string
	spec     fields
	sets     admission // the namespaces of the ListenerSets that it takes
	defaults bool      // it takes routes that ask for default Gateways (gatewayapi G20)
	whose    Implementation
}

// gateways are the Gateways with their ListenerSets and listeners: what these take, and whose they are.
type gateways struct {
	*draft
	specs     []gatewaySpec // in order of their references
	gatewayOf map[NodeID]int
	sets      []listenerSet // by ListenerSet node, from firstSet on
	firstSet  NodeID
	listeners
	clients map[NodeID]Unresolved // by Gateway with a client certificate
	unknown Implementation        // whose Gateways are of which the input does not tell the controller
	trust   certifier
	asked   map[selection]Truth // namespaces that a selector was asked about
	names   model.Set[string]   // of the listeners of the object at hand
}

func newGateways(d *draft) *gateways {
	return &gateways{
		draft:     d,
		gatewayOf: map[NodeID]int{},
		clients:   map[NodeID]Unresolved{},
		unknown:   d.usual(),
		trust:     certifier{d, certificates{in: d.in, covers: d.covers, made: d.made(d.in), check: d.settings.Bool(CheckCertificates)}},
		asked:     map[selection]Truth{},
	}
}

// into puts what is known of Gateways into the graph.
func (gs *gateways) into(g *Graph) {
	g.listeners, g.clients, g.certificates = gs.listeners, gs.clients, gs.trust.certificates
	g.whose = map[NodeID]string{}
	for i := range gs.specs {
		if name := gs.specs[i].whose.Name; name != "" {
			g.whose[gs.specs[i].id] = name
		}
	}
	g.firstSet, g.sets, g.setsOf = gs.firstSet, make([]SetFacts, len(gs.sets)), map[NodeID][]NodeID{}
	for i := range gs.sets {
		s := &gs.sets[i]
		g.sets[i] = s.SetFacts
		if s.Gateway != None {
			g.setsOf[s.Gateway] = append(g.setsOf[s.Gateway], s.id)
		}
	}
}

// addGateways adds classes, Gateways, ListenerSets and listeners, and the edges between them.
func (gs *gateways) addGateways() {
	for _, o := range gs.in.Of(gatewayClassKind) {
		gs.add(Node{Role: GatewayClass, Ref: o.Ref, Object: o})
	}
	for _, o := range gs.in.Of(gatewayKind) {
		gs.addGateway(o)
	}
	gs.addSets()
	gs.listeners.first = NodeID(len(gs.nodes))
	for i := range gs.specs {
		gs.addListeners(gs.specs[i].id, &gs.specs[i].spec)
	}
	for i := range gs.sets {
		gs.addListeners(gs.sets[i].id, &gs.sets[i].spec)
	}
	gs.conflicts()
	for i := range gs.specs {
		gs.secure(gs.specs[i].id, &gs.specs[i].spec)
	}
	gs.connectSets()
}

func (gs *gateways) addGateway(o *model.Object) {
	g := gatewaySpec{id: gs.add(Node{Role: Gateway, Ref: o.Ref, Object: o}), spec: gs.spec(o)}
	gs.under(o.Ref.Namespace, g.id)
	if g.class = g.spec.text("gatewayClassName"); g.class != "" {
		gs.connect(gs.class(g.class), g.id)
	}
	allowed := g.spec.object("allowedListeners")
	namespaces := allowed.object("namespaces")
	g.sets = namespaces.admission("None", "the Gateway takes no listener set")
	if allowed.bad || namespaces.bad {
		g.sets = admission{}
	}
	g.defaults = g.spec.scope("defaultScope")
	g.whose = gs.implementationOf(g.class)
	gs.gatewayOf[g.id] = len(gs.specs)
	gs.specs = append(gs.specs, g)
}

// addListeners adds the listeners of a Gateway or a ListenerSet. One without a readable name has no node.
func (gs *gateways) addListeners(owner NodeID, spec *fields) {
	list, at := spec.list("listeners"), spec.at.field("listeners")
	gs.limit(list.Len(), mostListeners, at)
	gs.names.Clear()
	for i, v := range list.Items {
		f := gs.entry(v, at.entry(i))
		name := f.text("name")
		if f.bad {
			continue
		}
		if name == "" {
			gs.skip(f.at, "has no name")
			continue
		}
		if gs.names.Has(name) {
			gs.invalid(f.at, "more than one listener is called "+quote(name))
		}
		gs.names.Add(name)
		ref := at.object.Ref.In(name)
		gs.connect(owner, gs.addPart(owner, Node{Role: Listener, Ref: ref, Object: at.object, Index: i}))
		gs.listeners.all = append(gs.listeners.all, gs.readListener(&f, ref, owner))
	}
}

func (gs *gateways) readListener(f *fields, ref model.Ref, owner NodeID) listener {
	l := listener{owner: owner, ref: ref, accepts: "listener " + ref.Section + " accepts the route"}
	l.hostname = f.text("hostname")
	l.whole = []Hostname{{Effective: l.hostname}}
	l.port = f.port("port")
	protocol := f.text("protocol")
	l.protocol = protocol
	allowed := f.object("allowedRoutes")
	whose := gs.implementation(owner)
	gs.readKinds(&l, &allowed, whose.taking(protocol, f.m.Field("tls").Text("mode")))
	l.void = l.invalidKinds && whose.WholeKinds
	if named := allowed.m.Field("kinds"); named.Len() == 0 && gs.mayTakeTCP(owner, protocol, f.m.Field("tls").Text("mode")) {
		l.doubtful = []model.GroupKind{tcpRouteKind}
	}
	namespaces := allowed.object("namespaces")
	l.admission = namespaces.admission("Same", "the listener takes no route")
	l.unreadable = f.bad || allowed.bad || namespaces.bad
	gs.trust.readTLS(&l, f)
	return l
}

// readKinds intersects the kinds of allowedRoutes with those that the protocol takes (gatewayapi G13).
func (gs *gateways) readKinds(l *listener, allowed *fields, standard []model.GroupKind) {
	foreign := standard == nil && strings.Contains(l.protocol, "/")
	if foreign {
		gs.noteName(topic{what: protocolNotEvaluated, about: model.Ref{Name: l.protocol}}, l.ref.String(), allowed.at.object)
	}
	list := allowed.list("kinds")
	if list.Len() == 0 {
		l.kinds = standard
		return
	}
	for i, v := range list.Items {
		f := gs.entry(v, allowed.at.field("kinds").entry(i))
		gk := model.GroupKind{Group: f.textOr("group", gatewayGroup), Kind: f.text("kind")}
		if !f.bad && (foreign || slices.Contains(standard, gk)) {
			l.kinds = append(l.kinds, gk)
		} else {
			l.invalidKinds = true
		}
	}
}

// valid reports whether a ListenerSet may count on the listener (gatewayapi G22): its protocol is supported, no other listener is in its way,
// and its references are not known to be bad.
func (l *listener) valid() bool { return !l.refused() && l.refs.Reason == "" }

// refused reports whether the listener itself is not accepted, so that it does not count as one of its Gateway (gatewayapi G29).
func (l *listener) refused() bool {
	return l.unsupported() || l.void || l.conflict != (Conflict{}) || l.refusal.Reason != ""
}

// unsupported reports whether the protocol is none of the Gateway API's, nor one with a domain.
func (l *listener) unsupported() bool {
	return kindsByProtocol(l.protocol) == nil && !strings.Contains(l.protocol, "/")
}
