package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Extension adds what one vendor knows to the graph: nodes of roles of its own, and the edges of families of its own. It runs after the nodes
// of the Gateway API are there. It is pure, and must not depend on the order of the input's documents.
type Extension func(l *Extender, in *model.Snapshot, s model.Settings) []model.Problem

// Extend has the graph extended once the nodes of the Gateway API are there.
func (b *Builder) Extend(e Extension) { b.extensions = append(b.extensions, e) }

// Extender is what an Extension adds to.
type Extender struct {
	d        *draft
	families map[string]*linked
	uses     map[NodeID][]Use

	workloads []NodeID
}

// linked is a family that extensions make.
type linked struct {
	levels []Role
	edges  []edge
}

// Use says where a node comes into play for some: what a caller in By sends to At is treated by the node. Nodes with uses that have nothing of
// their own take what holds there.
type Use struct {
	At NodeID
	By []NodeID // sorted; shared between uses, and not to be changed
}

// For reports whether the node is a caller for whom the use is.
func (u Use) For(id NodeID) bool {
	_, ok := slices.BinarySearch(u.By, id)
	return ok
}

// Family declares a family with its roles, every parent's before its children's. Declaring it again changes nothing.
func (l *Extender) Family(name string, levels ...Role) {
	if l.families[name] == nil {
		l.families[name] = &linked{levels: levels}
	}
}

// Add is the node of a whole object, a new one in the given role if it has none.
func (l *Extender) Add(role Role, o *model.Object) NodeID {
	if id, ok := l.d.byObject[o]; ok {
		return id
	}
	return l.d.add(Node{Role: role, Ref: o.Ref, Object: o})
}

// Sections adds the parts of a node, which has none yet.
func (l *Extender) Sections(owner NodeID, role Role, names []string) []NodeID {
	whole := l.d.nodes[owner]
	out := make([]NodeID, len(names))
	for i, name := range names {
		out[i] = l.d.addPart(owner, Node{Role: role, Ref: whole.Ref.In(name), Object: whole.Object, Index: i})
	}
	return out
}

// Under says that what policies say of a node holds at a part of it as well, unless they say something of the part.
func (l *Extender) Under(owner, part NodeID) { l.d.above = append(l.d.above, edge{part, owner}) }

// Beside is a further node for what may have one already, in a role of its own: what holds where it comes into play at one place, as a route
// does at each of its parents. Whoever looks for the object, or for its section, finds it as well.
func (l *Extender) Beside(role Role, ref model.Ref, o *model.Object) NodeID {
	id := NodeID(len(l.d.nodes))
	l.d.nodes = append(l.d.nodes, Node{Role: role, Ref: ref, Object: o})
	if l.d.beside == nil {
		l.d.beside = map[model.Ref][]NodeID{}
	}
	l.d.beside[ref] = append(l.d.beside[ref], id)
	return id
}

// Beside lists the further nodes of an object or a section that extensions made.
func (g *Graph) Beside(ref model.Ref) []NodeID { return g.beside[ref] }

// Connect puts a node right above another one in a family.
func (l *Extender) Connect(family string, from, to NodeID) {
	f := l.families[family]
	f.edges = append(f.edges, edge{from, to})
}

// Use says that a node comes into play at another one, for the given callers.
func (l *Extender) Use(node NodeID, u Use) { l.uses[node] = append(l.uses[node], u) }

// extend runs the extensions.
func (d *draft) extend() *Extender {
	l := &Extender{d: d, families: map[string]*linked{}, uses: map[NodeID][]Use{}}
	for _, extend := range d.extensions {
		d.problems = append(d.problems, extend(l, d.in, d.settings)...)
	}
	return l
}

// into puts what the extensions made into the graph.
func (l *Extender) into(g *Graph) {
	for name, f := range l.families {
		g.families[name] = newFamily(g.nodes, f.edges, f.levels)
		g.extended = append(g.extended, name)
	}
	slices.Sort(g.extended)
	g.uses = l.uses
	for _, uses := range g.uses {
		slices.SortStableFunc(uses, func(a, b Use) int { return int(a.At - b.At) })
	}
}

// Uses lists where a node comes into play, sorted by place.
func (g *Graph) Uses(id NodeID) []Use { return g.uses[id] }

// AddNamed is the node of an object that is not in the input.
func (l *Extender) AddNamed(role Role, ref model.Ref) NodeID {
	if id, ok := l.d.byName[ref]; ok {
		return id
	}
	return l.d.add(Node{Role: role, Ref: ref})
}
