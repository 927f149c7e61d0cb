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
	families map[string]ExtraFamily
	uses     map[NodeID][]NodeUse

	workloads []NodeID
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
	if _, declared := l.families[name]; !declared {
		l.families[name] = ExtraFamily{Levels: levels}
	}
}

// AddObject returns the node of a whole object, a new one in the given role if it has none.
func (l *Extender) AddObject(role Role, o *model.Object) NodeID {
	if id := l.draft.nodes.OfObject(o); id != None {
		return id
	}
	return l.draft.nodes.Add(Node{Role: role, Ref: o.Ref, Object: o})
}

// AddSections adds the parts of a node, which has none yet.
func (l *Extender) AddSections(owner NodeID, role Role, names []string) []NodeID {
	whole := l.draft.nodes.Node(owner)
	out := make([]NodeID, len(names))
	for i, name := range names {
		out[i] = l.draft.nodes.AddPart(owner, Node{Role: role, Ref: whole.Ref.WithSection(name), Object: whole.Object, Index: i})
	}
	return out
}

// PlaceUnder says that what policies say of a node holds at a part of it as well, unless they say
// something of the part.
func (l *Extender) PlaceUnder(owner, part NodeID) {
	l.draft.addAbove(part, owner)
}

// AddExtraNode adds a further node for what may have one already, in a role of its own: what holds
// where it comes into play at one place, as a route does at each of its parents. Whoever looks for
// the object, or for its section, finds it as well.
func (l *Extender) AddExtraNode(role Role, ref model.Ref, o *model.Object) NodeID {
	return l.draft.nodes.AddExtra(Node{Role: role, Ref: ref, Object: o})
}

// ExtraNodes lists the further nodes of an object or a section that extensions made.
func (g *Graph) ExtraNodes(ref model.Ref) []NodeID { return g.nodes.extra[ref] }

// Connect puts a node right above another one in a family.
func (l *Extender) Connect(family string, from, to NodeID) {
	f := l.families[family]
	f.Edges = append(f.Edges, Edge{From: from, To: to})
	l.families[family] = f
}

// AddUse says that a node comes into play at another one, for the given callers.
func (l *Extender) AddUse(node NodeID, u NodeUse) { l.uses[node] = append(l.uses[node], u) }

// runExtensions runs the extensions.
func (d *draft) runExtensions() *Extender {
	l := &Extender{draft: d, families: map[string]ExtraFamily{}, uses: map[NodeID][]NodeUse{}}
	for _, extend := range d.extensions {
		d.problems = append(d.problems, extend(l, d.in, d.settings)...)
	}
	return l
}

// addTo adds what the extensions made to the parts of the graph.
func (l *Extender) addTo(p *Parts) {
	p.Extensions, p.Uses = l.families, l.uses
	for _, uses := range l.uses {
		slices.SortStableFunc(uses, func(a, b NodeUse) int { return int(a.At - b.At) })
	}
}

// Uses lists where a node comes into play, sorted by place.
func (g *Graph) Uses(id NodeID) []NodeUse { return g.parts.Uses[id] }

// AddRef returns the node of an object that is not in the input, a new one if it has none.
func (l *Extender) AddRef(role Role, ref model.Ref) NodeID {
	if id := l.draft.nodes.Named(ref); id != None {
		return id
	}
	return l.draft.nodes.Add(Node{Role: role, Ref: ref})
}
