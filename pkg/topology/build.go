package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// builder collects a graph. Its steps run in the order of Build: each relies on the nodes of those before it.
type builder struct {
	settings model.Settings
	nodes    []Node
	byObject map[*model.Object]NodeID
	byName   map[model.Ref]NodeID
	traffic  []edge // from a route down they are those of Mesh too
	mesh     []edge // from Services that are parents down to routes
	above    []edge
	problems []model.Problem
	notes    map[topic]*tally
	referents

	gateways      []gatewaySpec // in order of their references
	gatewayOf     map[NodeID]int
	sets          []listenerSet // by ListenerSet node, from firstSet on
	firstSet      NodeID
	listeners     []listener // by listener node, from firstListener on
	firstListener NodeID
	asking        map[NodeID]struct{} // routes that ask for default Gateways (G20)
	ports         []servicePort       // by port node, from firstPort on
	firstPort     NodeID
	portless      map[model.GroupKind]bool // whose ports are those that rules send to
	uses          []numberUse              // of such
	tables        [][]Attachment
	unresolved    map[NodeID]Unresolved
	frontends     map[model.Ref]NodeID
	bindings      []binding
	missing       map[model.Ref]struct{} // backends that were said not to be in the input
	clients       map[NodeID]Unresolved  // by Gateway with a client certificate

	implementations []Implementation
	unknown         Implementation // whose Gateways are of which the input does not tell the controller
	portHosts       map[NodeID]portHosts

	shared      []SharedPorts
	portmates   map[NodeID]owned // listeners that share a port, by each of them; see isolate
	delegations []Delegation
	extensions  []Extension
	handing     map[NodeID][]delegate // by rule
	instancesOf map[NodeID][]NodeID   // by route and rule
	instances   int
	emptyTable  int32

	routeParents bool // a parentRef names an HTTPRoute

	lastNamespace struct {
		name string
		id   NodeID
	}
	selected map[selection]truth    // namespaces that a selector was asked about
	names    map[string]struct{}    // scratch: names within one object
	parents  map[parentRef]struct{} // scratch: the parentRefs of one route
	hosts    []string               // scratch: the hostnames of one route
	table    []Attachment           // scratch: the attachments of one route
}

// Build builds the graph of everything in the snapshot, with what the linkers say about implementations. The outcome does not depend on the
// order of the input, and costs time and space linear in its objects and references, and in the chains of delegation.
func Build(in *model.Snapshot, settings model.Settings, linkers ...Linker) *Graph {
	size := estimate(in)
	b := &builder{
		settings:  settings,
		nodes:     make([]Node, 0, size),
		byObject:  make(map[*model.Object]NodeID, len(in.Objects)),
		byName:    map[model.Ref]NodeID{},
		traffic:   make([]edge, 0, 2*size),
		above:     make([]edge, 0, size),
		notes:     map[topic]*tally{},
		referents: referents{in: in, covers: newCoverage(in), grants: grants{}, known: knownKinds(in)},
		selected:  map[selection]truth{},
		names:     map[string]struct{}{},
		parents:   map[parentRef]struct{}{},

		gatewayOf:  map[NodeID]int{},
		asking:     map[NodeID]struct{}{},
		unresolved: map[NodeID]Unresolved{},
		frontends:  map[model.Ref]NodeID{},
		missing:    map[model.Ref]struct{}{},
		clients:    map[NodeID]Unresolved{},

		handing: map[NodeID][]delegate{}, instancesOf: map[NodeID][]NodeID{},
	}
	for _, link := range linkers {
		link(&Builder{b})
	}
	b.unknown = b.usual()
	b.addNamespaces()
	b.readGrants()
	b.addGateways()
	b.addServices()
	b.addRoutes()
	b.addNumberedPorts()
	b.bind()
	b.isolate()
	b.chains()
	extended := b.extend()
	b.report()
	g := b.graph()
	extended.into(g)
	return g
}

func (b *builder) graph() *Graph {
	g := &Graph{
		referents:   b.referents,
		nodes:       b.nodes,
		byObject:    b.byObject,
		byName:      b.byName,
		families:    b.families(),
		above:       newLinks(len(b.nodes), b.above),
		tables:      b.tables,
		portNumbers: make([]int32, len(b.ports)),
		firstPort:   b.firstPort,
		portless:    b.portless,
		problems:    model.SortProblems(b.problems),

		listeners:     b.listeners,
		firstListener: b.firstListener,
		unresolved:    b.unresolved,
		frontends:     b.frontends,
		instances:     b.instancesOf,
		owners:        b.settleHosts(),
		portmates:     b.portmates,
		whose:         b.byGateway(),
		clients:       b.clients,
		certificates:  b.certificates(),
		sets:          make([]SetFacts, len(b.sets)),
		firstSet:      b.firstSet,
		setsOf:        map[NodeID][]NodeID{},
		asking:        b.asking,
		setsApart:     b.settings.Off(GatewayReachesSets),
		merging:       b.settings.Bool(GatewayMerging),
	}
	for i := range b.sets {
		s := &b.sets[i]
		g.sets[i] = s.SetFacts
		if s.Gateway != None {
			g.setsOf[s.Gateway] = append(g.setsOf[s.Gateway], s.id)
		}
	}
	for i, p := range b.ports {
		g.portNumbers[i] = p.number
	}
	return g
}

// estimate is about the number of nodes that in will have.
func estimate(in *model.Snapshot) int {
	n := len(in.Objects) / 8
	for _, gk := range append(RouteKinds(), gatewayKind, serviceKind) {
		n += 3 * len(in.Of(gk)) // itself and two parts
	}
	return n
}

// add appends the node of a whole object, under which its reference finds it.
func (b *builder) add(n Node) NodeID {
	id := NodeID(len(b.nodes))
	b.nodes = append(b.nodes, n)
	if n.Object != nil {
		b.byObject[n.Object] = id
	} else {
		b.byName[n.Ref] = id
	}
	return id
}

// find is the node that a whole object has so far.
func (b *builder) find(ref model.Ref) (NodeID, bool) {
	if o := b.in.Get(ref); o != nil {
		id, ok := b.byObject[o]
		return id, ok
	}
	id, ok := b.byName[ref]
	return id, ok
}

// addPart appends a section of owner; the sections of one owner follow each other.
func (b *builder) addPart(owner NodeID, n Node) NodeID {
	id := NodeID(len(b.nodes))
	b.nodes = append(b.nodes, n)
	parts := &b.nodes[owner].parts
	if parts.n == 0 {
		parts.first = id
	}
	parts.n++
	return id
}

// reset empties a scratch map. A big one is given up, because clearing it costs its size every time.
func reset[K comparable](m *map[K]struct{}) {
	if len(*m) > 64 {
		*m = map[K]struct{}{}
	}
	clear(*m)
}

func (b *builder) connect(from, to NodeID) { b.traffic = append(b.traffic, edge{from, to}) }

// under says that the policies of a namespace hold at id as well.
func (b *builder) under(namespace string, id NodeID) {
	if namespace != "" {
		b.above = append(b.above, edge{id, b.namespace(namespace)})
	}
}

// addNamespaces gives a node to every Namespace and to every namespace that an object is in. They come first, so that sorting by id
// puts a Service's namespace before the Service (see Above).
func (b *builder) addNamespaces() {
	for _, o := range b.in.Of(namespaceKind) {
		b.add(Node{Role: Namespace, Ref: o.Ref, Object: o})
	}
	last := ""
	for _, o := range b.in.Objects {
		if ns := o.Ref.Namespace; ns != last {
			last = ns
			b.namespace(ns)
		}
	}
}

// namespace is the node of the namespace called name, a new one if there is none. Objects come sorted by namespace, so that the last
// one asked for is mostly the next.
func (b *builder) namespace(name string) NodeID {
	if name == b.lastNamespace.name {
		return b.lastNamespace.id
	}
	ref := namespaceRef(name)
	id, ok := b.find(ref)
	if !ok {
		id = b.add(Node{Role: Namespace, Ref: ref})
	}
	b.lastNamespace.name, b.lastNamespace.id = name, id
	return id
}

func namespaceRef(name string) model.Ref { return model.Ref{Kind: namespaceKind.Kind, Name: name} }

// problem reports p about the part of o at path.
func (b *builder) problem(p model.Problem, o *model.Object, path ...string) {
	p = p.At(o)
	origin := o.OriginOf(path...)
	p.Origin = &origin
	b.problems = append(b.problems, p)
}

// invalid reports what the API server would refuse.
func (b *builder) invalid(at place, message string) {
	b.problem(model.Problem{Severity: model.Warning, Code: model.InvalidObject, Message: message}, at.object, at.path()...)
}

// skip reports an entry that takes no part for what it lacks.
func (b *builder) skip(at place, lack string) {
	b.invalid(at, at.String()+" "+lack+" and takes no part")
}

// limit reports a list that is longer than the API server takes (gatewayapi §8). It is evaluated all the same.
func (b *builder) limit(n, most int, at place) {
	if n > most {
		b.invalid(at, at.String()+" has "+itoa(n)+" entries; the API server takes at most "+itoa(most))
	}
}
