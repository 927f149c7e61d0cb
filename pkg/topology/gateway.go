package topology

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// listener is what attachment needs to know of a listener.
type listener struct {
	ref          model.Ref // of the object that holds it, with its name as section
	hostname     string
	protocol     string
	port         int32
	kinds        []model.GroupKind // routes it takes
	from         string            // All, Same or Selector; anything else takes no namespace
	selector     selector
	invalidKinds bool // allowedRoutes names kinds that it cannot take
	unreadable   bool // a field has the wrong type: it takes no route
	conflict     Conflict

	tlsMode   string     // of HTTPS and TLS; "" where it is not said
	refs      Unresolved // its certificates, and those by which it knows its clients
	refused   Refusal
	dark      bool // it is withheld whether it is refused
	validated bool // it says itself how it knows its clients

	accepts string     // the reason of an accepted attachment
	whole   []Hostname // what a route without hostnames gets
}

const mostListeners = 64

// addGateways adds classes, Gateways and listeners, and the edges between them.
func (b *builder) addGateways() {
	for _, o := range b.in.Of(gatewayClassKind) {
		b.add(Node{Role: GatewayClass, Ref: o.Ref, Object: o})
	}
	gateways := b.in.Of(gatewayKind)
	ids, specs := make([]NodeID, len(gateways)), make([]fields, len(gateways))
	for i, o := range gateways {
		ids[i] = b.add(Node{Role: Gateway, Ref: o.Ref, Object: o})
		b.under(o.Ref.Namespace, ids[i])
		specs[i] = b.spec(o)
		if class := specs[i].text("gatewayClassName"); class != "" {
			b.connect(b.class(class), ids[i])
		}
	}
	b.firstListener = NodeID(len(b.nodes))
	for i := range gateways {
		b.addListeners(ids[i], &specs[i])
		b.conflicts(ids[i])
		b.secure(ids[i], &specs[i])
	}
}

// class is the node of the class called name, which need not be in the input.
func (b *builder) class(name string) NodeID {
	ref := model.Ref{Group: gatewayClassKind.Group, Kind: gatewayClassKind.Kind, Name: name}
	if id, ok := b.find(ref); ok {
		return id
	}
	return b.add(Node{Role: GatewayClass, Ref: ref})
}

// addListeners adds the listeners of a Gateway. One without a readable name has no node.
func (b *builder) addListeners(gateway NodeID, spec *fields) {
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
		b.connect(gateway, b.addPart(gateway, Node{Role: Listener, Ref: ref, Object: at.object, Index: i}))
		b.listeners = append(b.listeners, b.readListener(&f, ref))
	}
}

func (b *builder) readListener(f *fields, ref model.Ref) listener {
	l := listener{ref: ref, accepts: "listener " + ref.Section + " accepts the route"}
	l.hostname = f.text("hostname")
	l.whole = []Hostname{{Effective: l.hostname}}
	l.port = f.port("port")
	protocol := f.text("protocol")
	l.protocol = protocol
	allowed := f.object("allowedRoutes")
	b.readKinds(&l, &allowed, protocol)
	namespaces := allowed.object("namespaces")
	b.readNamespaces(&l, &namespaces)
	l.unreadable = f.bad || allowed.bad || namespaces.bad
	b.readTLS(&l, f)
	return l
}

// readKinds intersects the kinds of allowedRoutes with what the protocol takes (gatewayapi G13).
func (b *builder) readKinds(l *listener, allowed *fields, protocol string) {
	standard := kindsByProtocol(protocol)
	foreign := standard == nil && strings.Contains(protocol, "/")
	if foreign {
		b.noteName(topic{what: protocolNotEvaluated, about: model.Ref{Name: protocol}}, l.ref.String(), allowed.at.object)
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

// readNamespaces reads from which namespaces the listener takes routes (gatewayapi G5, G14).
func (b *builder) readNamespaces(l *listener, f *fields) {
	l.from = f.textOr("from", "Same")
	switch {
	case f.bad, l.from == "All", l.from == "Same":
	case l.from != "Selector":
		at := f.at.field("from")
		b.invalid(at, at.String()+" is "+l.from+", which is none of All, Same and Selector; the listener takes no route")
	case f.has("selector"): // an absent selector selects nothing, as everywhere in Kubernetes
		selector := f.object("selector")
		l.selector = b.readSelector(&selector)
		f.bad = f.bad || selector.bad
	}
}
