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

// addGateways adds classes, Gateways, ListenerSets and listeners, and the edges between them.
func (b *builder) addGateways() {
	for _, o := range b.in.Of(gatewayClassKind) {
		b.add(Node{Role: GatewayClass, Ref: o.Ref, Object: o})
	}
	for _, o := range b.in.Of(gatewayKind) {
		b.addGateway(o)
	}
	b.addSets()
	b.firstListener = NodeID(len(b.nodes))
	for i := range b.gateways {
		b.addListeners(b.gateways[i].id, &b.gateways[i].spec)
	}
	for i := range b.sets {
		b.addListeners(b.sets[i].id, &b.sets[i].spec)
	}
	b.conflicts()
	for i := range b.gateways {
		b.secure(b.gateways[i].id, &b.gateways[i].spec)
	}
	b.settleSets()
}

func (b *builder) addGateway(o *model.Object) {
	g := gatewaySpec{id: b.add(Node{Role: Gateway, Ref: o.Ref, Object: o}), spec: b.spec(o)}
	b.under(o.Ref.Namespace, g.id)
	if g.class = g.spec.text("gatewayClassName"); g.class != "" {
		b.connect(b.class(g.class), g.id)
	}
	allowed := g.spec.object("allowedListeners")
	namespaces := allowed.object("namespaces")
	g.sets = b.readAdmission(&namespaces, "None", "the Gateway takes no listener set")
	if allowed.bad || namespaces.bad {
		g.sets = admission{}
	}
	g.defaults = b.readScope(&g.spec, "defaultScope")
	g.whose = b.implementationOf(g.class)
	b.gatewayOf[g.id] = len(b.gateways)
	b.gateways = append(b.gateways, g)
}

// class is the node of the class called name, which need not be in the input.
func (b *builder) class(name string) NodeID {
	ref := model.Ref{Group: gatewayClassKind.Group, Kind: gatewayClassKind.Kind, Name: name}
	if id, ok := b.find(ref); ok {
		return id
	}
	return b.add(Node{Role: GatewayClass, Ref: ref})
}

// addListeners adds the listeners of a Gateway or a ListenerSet. One without a readable name has no node.
func (b *builder) addListeners(owner NodeID, spec *fields) {
	list, at := spec.list("listeners"), spec.at.field("listeners")
	b.limit(list.Len(), mostListeners, at)
	reset(&b.names)
	for i, v := range list.Items {
		f := b.entry(v, at.entry(i))
		name := f.text("name")
		if f.bad {
			continue
		}
		if name == "" {
			b.skip(f.at, "has no name")
			continue
		}
		if _, twice := b.names[name]; twice {
			b.invalid(f.at, "more than one listener is called "+quote(name))
		}
		b.names[name] = struct{}{}
		ref := at.object.Ref.In(name)
		b.connect(owner, b.addPart(owner, Node{Role: Listener, Ref: ref, Object: at.object, Index: i}))
		b.listeners = append(b.listeners, b.readListener(&f, ref, owner))
	}
}

func (b *builder) readListener(f *fields, ref model.Ref, owner NodeID) listener {
	l := listener{owner: owner, ref: ref, accepts: "listener " + ref.Section + " accepts the route"}
	l.hostname = f.text("hostname")
	l.whole = []Hostname{{Effective: l.hostname}}
	l.port = f.port("port")
	protocol := f.text("protocol")
	l.protocol = protocol
	allowed := f.object("allowedRoutes")
	whose := b.implementation(owner)
	b.readKinds(&l, &allowed, whose.taking(protocol, f.m.Field("tls").Text("mode")))
	l.void = l.invalidKinds && whose.WholeKinds
	if named := allowed.m.Field("kinds"); named.Len() == 0 && b.mayTakeTCP(owner, protocol, f.m.Field("tls").Text("mode")) {
		l.doubtful = []model.GroupKind{tcpRouteKind}
	}
	namespaces := allowed.object("namespaces")
	l.admission = b.readAdmission(&namespaces, "Same", "the listener takes no route")
	l.unreadable = f.bad || allowed.bad || namespaces.bad
	b.readTLS(&l, f)
	return l
}

// readKinds intersects the kinds of allowedRoutes with those that the protocol takes (gatewayapi G13).
func (b *builder) readKinds(l *listener, allowed *fields, standard []model.GroupKind) {
	foreign := standard == nil && strings.Contains(l.protocol, "/")
	if foreign {
		b.noteName(topic{what: protocolNotEvaluated, about: model.Ref{Name: l.protocol}}, l.ref.String(), allowed.at.object)
	}
	list := allowed.list("kinds")
	if list.Len() == 0 {
		l.kinds = standard
		return
	}
	for i, v := range list.Items {
		f := b.entry(v, allowed.at.field("kinds").entry(i))
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
