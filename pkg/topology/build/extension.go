package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// Extension adds what one vendor knows to the graph: nodes of roles of its own, and the edges of
// families of its own. It runs after the nodes of the Gateway API are there. It is pure, and must
// not depend on the order of the input's documents.
type Extension func(l *Extender, in *model.Snapshot, s model.Settings) []model.Problem

// AddExtension has the graph extended once the nodes of the Gateway API are there.
func (b *Builder) AddExtension(e Extension) { b.extensions = append(b.extensions, e) }

// Extender is what an Extension adds to.
type Extender struct {
	draft    *draft
	families map[string]topology.ExtraFamily
	uses     map[topology.NodeID][]topology.NodeUse

	workloads []topology.NodeID
}

// DeclareFamily declares a family with its roles, every parent's before its children's. Declaring
// it again changes nothing.
func (l *Extender) DeclareFamily(name string, levels ...topology.Role) {
	if _, declared := l.families[name]; !declared {
		l.families[name] = topology.ExtraFamily{Levels: levels}
	}
}

// AddObject returns the node of a whole object, a new one in the given role if it has none.
func (l *Extender) AddObject(role topology.Role, o *model.Object) topology.NodeID {
	if id := l.draft.nodes.OfObject(o); id != topology.None {
		return id
	}
	return l.draft.nodes.Add(topology.Node{Role: role, Ref: o.Ref, Object: o})
}

// AddSections adds the parts of a node, which has none yet.
func (l *Extender) AddSections(owner topology.NodeID, role topology.Role, names []string) []topology.NodeID {
	whole := l.draft.nodes.Node(owner)
	out := make([]topology.NodeID, len(names))
	for i, name := range names {
		out[i] = l.draft.nodes.AddPart(owner, topology.Node{Role: role, Ref: whole.Ref.WithSection(name),
			Object: whole.Object, Index: i})
	}
	return out
}

// PlaceUnder says that what policies say of a node holds at a part of it as well, unless they say
// something of the part.
func (l *Extender) PlaceUnder(owner, part topology.NodeID) {
	l.draft.addAbove(part, owner)
}

// AddExtraNode adds a further node for what may have one already, in a role of its own: what holds
// where it comes into play at one place, as a route does at each of its parents. Whoever looks for
// the object, or for its section, finds it as well.
func (l *Extender) AddExtraNode(role topology.Role, ref model.Ref, o *model.Object) topology.NodeID {
	return l.draft.nodes.AddExtra(topology.Node{Role: role, Ref: ref, Object: o})
}

// Connect puts a node right above another one in a family.
func (l *Extender) Connect(family string, from, to topology.NodeID) {
	f := l.families[family]
	f.Edges = append(f.Edges, topology.Edge{From: from, To: to})
	l.families[family] = f
}

// AddUse says that a node comes into play at another one, for the given callers.
func (l *Extender) AddUse(node topology.NodeID, u topology.NodeUse) {
	l.uses[node] = append(l.uses[node], u)
}

// runExtensions runs the extensions.
func (d *draft) runExtensions() *Extender {
	l := &Extender{draft: d, families: map[string]topology.ExtraFamily{},
		uses: map[topology.NodeID][]topology.NodeUse{}}
	for _, extend := range d.extensions {
		d.Problems = append(d.Problems, extend(l, d.in, d.settings)...)
	}
	return l
}

// addTo adds what the extensions made to the parts of the graph.
func (l *Extender) addTo(p *topology.Parts) {
	p.Extensions, p.Uses = l.families, l.uses
	for _, uses := range l.uses {
		slices.SortStableFunc(uses, func(a, b topology.NodeUse) int { return int(a.At - b.At) })
	}
}

// AddRef returns the node of an object that is not in the input, a new one if it has none.
func (l *Extender) AddRef(role topology.Role, ref model.Ref) topology.NodeID {
	if id := l.draft.nodes.Named(ref); id != topology.None {
		return id
	}
	return l.draft.nodes.Add(topology.Node{Role: role, Ref: ref})
}

// AddWorkloads has the family Namespaced made if the input has objects of one of the kinds.
func (b *Builder) AddWorkloads(kinds ...model.GroupKind) {
	b.AddExtension(func(l *Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
		if slices.ContainsFunc(kinds, func(gk model.GroupKind) bool { return len(in.OfKind(gk)) > 0 }) {
			l.Workloads()
		}
		return nil
	})
}

// Workloads makes the family Namespaced, and lists the workloads in the order of their references.
// Asking again changes nothing.
func (l *Extender) Workloads() []topology.NodeID {
	if _, declared := l.families[topology.Namespaced]; !declared {
		l.DeclareFamily(topology.Namespaced, topology.Namespace, topology.Workload)
		for _, o := range workload.List(l.draft.in) {
			id := l.AddObject(topology.Workload, o)
			l.Connect(topology.Namespaced, l.draft.namespaceNode(o.Ref.Namespace), id)
			l.workloads = append(l.workloads, id)
		}
	}
	return slices.Clone(l.workloads)
}
