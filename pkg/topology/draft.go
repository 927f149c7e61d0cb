package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// draft is a graph under construction, as all phases of Build share it.
type draft struct {
	*Builder
	reader
	referents
	index
	traffic    []edge // from a route down they are those of Mesh too
	mesh       []edge // from Services that are parents down to routes
	above      []edge
	tables     [][]Attachment // by route
	unresolved map[NodeID]Unresolved
	notes      map[topic]*tally

	lastNamespace struct {
		name string
		id   NodeID
	}
}

func newDraft(in *model.Snapshot, said *Builder) *draft {
	size := estimate(in)
	return &draft{
		Builder:   said,
		referents: referents{in: in, covers: newCoverage(in), grants: grants{}, known: knownKinds(in)},
		index: index{
			objects:   in,
			nodes:     make([]Node, 0, size),
			byObject:  make(map[*model.Object]NodeID, len(in.Objects)),
			byName:    map[model.Ref]NodeID{},
			frontends: map[model.Ref]NodeID{},
			instances: map[NodeID][]NodeID{},
		},
		traffic:    make([]edge, 0, 2*size),
		above:      make([]edge, 0, size),
		unresolved: map[NodeID]Unresolved{},
		notes:      map[topic]*tally{},
	}
}

// estimate is about the number of nodes that in will have.
func estimate(in *model.Snapshot) int {
	n := len(in.Objects) / 8
	for _, gk := range append(RouteKinds(), gatewayKind, serviceKind) {
		n += 3 * len(in.Of(gk)) // itself and two parts
	}
	return n
}

func (d *draft) connect(from, to NodeID) { d.traffic = append(d.traffic, edge{from, to}) }

// under says that the policies of a namespace hold at id as well.
func (d *draft) under(namespace string, id NodeID) {
	if namespace != "" {
		d.above = append(d.above, edge{id, d.namespace(namespace)})
	}
}

// addNamespaces gives a node to every Namespace and to every namespace that an object is in. They come first, so that sorting by id
// puts a Service's namespace before the Service (see Above).
func (d *draft) addNamespaces() {
	for _, o := range d.in.Of(namespaceKind) {
		d.add(Node{Role: Namespace, Ref: o.Ref, Object: o})
	}
	last := ""
	for _, o := range d.in.Objects {
		if ns := o.Ref.Namespace; ns != last {
			last = ns
			d.namespace(ns)
		}
	}
}

// namespace is the node of the namespace called name, a new one if there is none. Objects come sorted by namespace, so that the last
// one asked for is mostly the next.
func (d *draft) namespace(name string) NodeID {
	if name == d.lastNamespace.name {
		return d.lastNamespace.id
	}
	ref := namespaceRef(name)
	id, ok := d.find(ref)
	if !ok {
		id = d.add(Node{Role: Namespace, Ref: ref})
	}
	d.lastNamespace.name, d.lastNamespace.id = name, id
	return id
}

func namespaceRef(name string) model.Ref { return model.Ref{Kind: namespaceKind.Kind, Name: name} }

// class is the node of the class called name, which need not be in the input.
func (d *draft) class(name string) NodeID {
	ref := model.Ref{Group: gatewayClassKind.Group, Kind: gatewayClassKind.Kind, Name: name}
	if id, ok := d.find(ref); ok {
		return id
	}
	return d.add(Node{Role: GatewayClass, Ref: ref})
}

// withheld is the node of a Gateway or a ListenerSet that we may not read and take to exist.
func (d *draft) withheld(role Role, ref model.Ref) NodeID {
	id, ok := d.find(ref)
	if !ok {
		id = d.add(Node{Role: role, Ref: ref})
		d.under(ref.Namespace, id)
	}
	return id
}

func (d *draft) graph() *Graph {
	return &Graph{
		referents:  d.referents,
		index:      d.index,
		adjacency:  adjacency{families: d.families(), above: newLinks(len(d.nodes), d.above)},
		tables:     d.tables,
		unresolved: d.unresolved,
		portless:   d.portless,
		divided:    d.divided,
		problems:   model.SortProblems(d.problems),
		setsApart:  d.settings.Off(GatewayReachesSets),
		merging:    d.settings.Bool(GatewayMerging),
	}
}
