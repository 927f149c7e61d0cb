package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Extension adds what one vendor knows to the graph: nodes of roles of its own, and the edges of families of its own. It runs after the nodes
// of the Gateway API are there. It is pure, and must not depend on the order of the input's documents.
type Extension func(l *Extender, in *model.Snapshot, s model.Settings) []model.Problem

// AddExtension has the graph extended once the nodes of the Gateway API are there.
func (b *Builder) AddExtension(e Extension) { b.extensions = append(b.extensions, e) }

// Extender is what an Extension adds to.
type Extender struct {
	draft    *draft
	families map[string]*extensionFamily
	uses     map[NodeID][]NodeUse

	workloads []NodeID
}

// extensionFamily is a family that extensions make.
type extensionFamily struct {
	levels []Role
	edges  []edge
}

// NodeUse says where a node comes into play for some: what a caller in By sends to At is treated by
// the node. Nodes with uses that have nothing of their own take what holds there.
type NodeUse struct {
	At NodeID
	By []NodeID // sorted; shared between uses, and not to be changed
}

// IsFor reports whether the node is a caller for whom the use is.
func (u NodeUse) IsFor(id NodeID) bool {
	_, ok := slices.BinarySearch(u.By, id)
	return ok
}

// DeclareFamily declares a family with its roles, every parent's before its children's. Declaring
// it again changes nothing.
func (l *Extender) DeclareFamily(name string, levels ...Role) {
	if l.families[name] == nil {
		l.families[name] = &extensionFamily{levels: levels}
	}
}

// AddObject returns the node of a whole object, a new one in the given role if it has none.
func (l *Extender) AddObject(role Role, o *model.Object) NodeID {
	if id, ok := l.draft.byObject[o]; ok {
		return id
	}
	return l.draft.addNode(Node{Role: role, Ref: o.Ref, Object: o})
}

// AddSections adds the parts of a node, which has none yet.
func (l *Extender) AddSections(owner NodeID, role Role, names []string) []NodeID {
	whole := l.draft.nodes[owner]
	out := make([]NodeID, len(names))
	for i, name := range names {
		out[i] = l.draft.addPart(owner, Node{Role: role, Ref: whole.Ref.WithSection(name), Object: whole.Object, Index: i})
	}
	return out
}

// PlaceUnder says that what policies say of a node holds at a part of it as well, unless they say
// something of the part.
func (l *Extender) PlaceUnder(owner, part NodeID) {
	l.draft.above = append(l.draft.above, edge{part, owner})
}

// AddExtraNode adds a further node for what may have one already, in a role of its own: what holds
// where it comes into play at one place, as a route does at each of its parents. Whoever looks for
// the object, or for its section, finds it as well.
func (l *Extender) AddExtraNode(role Role, ref model.Ref, o *model.Object) NodeID {
	id := NodeID(len(l.draft.nodes))
	l.draft.nodes = append(l.draft.nodes, Node{Role: role, Ref: ref, Object: o})
	if l.draft.extraNodes == nil {
		l.draft.extraNodes = map[model.Ref][]NodeID{}
	}
	l.draft.extraNodes[ref] = append(l.draft.extraNodes[ref], id)
	return id
}

// ExtraNodes lists the further nodes of an object or a section that extensions made.
func (g *Graph) ExtraNodes(ref model.Ref) []NodeID { return g.extraNodes[ref] }

// Connect puts a node right above another one in a family.
func (l *Extender) Connect(family string, from, to NodeID) {
	f := l.families[family]
	f.edges = append(f.edges, edge{from, to})
}

// AddUse says that a node comes into play at another one, for the given callers.
func (l *Extender) AddUse(node NodeID, u NodeUse) { l.uses[node] = append(l.uses[node], u) }

// runExtensions runs the extensions.
func (d *draft) runExtensions() *Extender {
	l := &Extender{draft: d, families: map[string]*extensionFamily{}, uses: map[NodeID][]NodeUse{}}
	for _, extend := range d.extensions {
		d.problems = append(d.problems, extend(l, d.in, d.settings)...)
	}
	return l
}

// copyTo puts what the extensions made into the graph.
func (l *Extender) copyTo(g *Graph) {
	for name, f := range l.families {
		g.families[name] = newEdgeFamily(g.nodes, f.edges, f.levels)
		g.extensionFamilies = append(g.extensionFamilies, name)
	}
	slices.Sort(g.extensionFamilies)
	g.uses = l.uses
	for _, uses := range g.uses {
		slices.SortStableFunc(uses, func(a, b NodeUse) int { return int(a.At - b.At) })
	}
}

// Uses lists where a node comes into play, sorted by place.
func (g *Graph) Uses(id NodeID) []NodeUse { return g.uses[id] }

// AddRef returns the node of an object that is not in the input, a new one if it has none.
func (l *Extender) AddRef(role Role, ref model.Ref) NodeID {
	if id, ok := l.draft.byName[ref]; ok {
		return id
	}
	return l.draft.addNode(Node{Role: role, Ref: ref})
}
