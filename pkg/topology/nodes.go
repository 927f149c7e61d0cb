package topology

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Nodes holds the nodes of a graph. While the graph is built they become more.
type Nodes struct {
	objects   *model.Snapshot
	list      []Node
	byObject  map[*model.Object]NodeID
	byName    map[model.Ref]NodeID // of what is not in the input
	ports     []servicePort        // by port node, from firstPort on
	firstPort NodeID
	frontends map[model.Ref]NodeID
	instances map[NodeID][]NodeID // of routes that others delegate to, and of their rules
	extra     map[model.Ref][]NodeID
}

// NewNodes returns no nodes, with room for about size of them, of the objects of an input.
func NewNodes(in *model.Snapshot, size int) *Nodes {
	return &Nodes{
		objects:   in,
		list:      make([]Node, 0, size),
		byObject:  make(map[*model.Object]NodeID, len(in.Objects)),
		byName:    map[model.Ref]NodeID{},
		frontends: map[model.Ref]NodeID{},
		instances: map[NodeID][]NodeID{},
		extra:     map[model.Ref][]NodeID{},
	}
}

// Len returns the number of nodes.
func (x *Nodes) Len() int { return len(x.list) }

// Node returns the node with the given id. When nodes are added, it may become a copy.
func (x *Nodes) Node(id NodeID) *Node { return &x.list[id] }

func (x *Nodes) appendNode(n Node) NodeID {
	x.list = append(x.list, n)
	return NodeID(len(x.list) - 1)
}

// Add appends the node of a whole object, under which its reference finds it.
func (x *Nodes) Add(n Node) NodeID {
	id := x.appendNode(n)
	if n.Object != nil {
		x.byObject[n.Object] = id
	} else {
		x.byName[n.Ref] = id
	}
	return id
}

// AddPart appends a section of owner; the sections of one owner follow each other.
func (x *Nodes) AddPart(owner NodeID, n Node) NodeID {
	id := x.appendNode(n)
	parts := &x.list[owner].parts
	if parts.n == 0 {
		parts.first = id
	}
	parts.n++
	return id
}

// AddPort appends a port of a Service. The ports of all Services follow each other.
func (x *Nodes) AddPort(service NodeID, n Node, number int32, udp bool) NodeID {
	id := x.AddPart(service, n)
	if x.ports == nil {
		x.firstPort = id
	}
	x.ports = append(x.ports, servicePort{number: number, udp: udp})
	return id
}

// AddFrontend appends the node of a Service, or of a port of one, as a parent of routes. The object
// is that of its node as a backend.
func (x *Nodes) AddFrontend(ref model.Ref, o *model.Object) NodeID {
	id := x.appendNode(Node{Role: Frontend, Ref: ref, Object: o})
	x.frontends[ref] = id
	return id
}

// AddInstance appends a copy of a route that others delegate to over so many hops, without rules.
func (x *Nodes) AddInstance(route NodeID, hop int32) NodeID {
	n := x.list[route]
	id := x.appendNode(Node{Role: Route, Ref: n.Ref, Object: n.Object, Hop: hop})
	x.instances[route] = append(x.instances[route], id)
	return id
}

// AddInstancePart appends to an instance of a route a copy of one of the route's rules.
func (x *Nodes) AddInstancePart(instance, rule NodeID, hop int32) NodeID {
	n := x.list[rule]
	id := x.AddPart(instance, Node{Role: Rule, Ref: n.Ref, Object: n.Object, Index: n.Index, Hop: hop})
	x.instances[rule] = append(x.instances[rule], id)
	return id
}

// AddExtra appends a further node for what may have one already.
func (x *Nodes) AddExtra(n Node) NodeID {
	id := x.appendNode(n)
	x.extra[n.Ref] = append(x.extra[n.Ref], id)
	return id
}

// Find returns the node of ref's whole object.
func (x *Nodes) Find(ref model.Ref) (NodeID, bool) {
	if gk := ref.GroupKind(); gk == gatewayapi.NamespaceKind || gk == gatewayapi.GatewayClassKind {
		ref.Namespace = ""
	}
	if o := x.objects.Get(ref); o != nil {
		id, ok := x.byObject[o]
		return id, ok
	}
	id, ok := x.byName[ref.WithoutSection()]
	return id, ok
}

// OfObject returns the node of a whole object of the input, None if it has none.
func (x *Nodes) OfObject(o *model.Object) NodeID {
	if id, ok := x.byObject[o]; ok {
		return id
	}
	return None
}

// Named returns the node of an object that is not in the input, None if it has none.
func (x *Nodes) Named(ref model.Ref) NodeID {
	if id, ok := x.byName[ref]; ok {
		return id
	}
	return None
}

// Frontend returns the node of a Service, or of a port of one, as a parent of routes, None if it is
// none.
func (x *Nodes) Frontend(ref model.Ref) NodeID {
	if id, ok := x.frontends[ref]; ok {
		return id
	}
	return None
}

// servicePort is what backendRefs need to know of a port of a Service.
type servicePort struct {
	number int32
	udp    bool
}

// Port returns the node of the Service's port with that number; where TCP and UDP share it, the
// one of the route's protocol.
func (x *Nodes) Port(service NodeID, number int32, udp bool) NodeID {
	found := None
	for id := range x.list[service].EachPart {
		p := x.ports[id-x.firstPort]
		if p.number != number {
			continue
		}
		if p.udp == udp {
			return id
		}
		found = id
	}
	return found
}
