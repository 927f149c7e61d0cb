package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The kinds of edges of a Topology.
const (
	EdgeParent     = "parent"
	EdgeTargets    = "targets"
	EdgeEffective  = "effective"
	EdgeOverridden = "overridden"
)

// taken marks nodes and edges on the way of a request.
const taken = "taken"

// GraphQuery is what a drawing is about.
type GraphQuery struct {
	Query
	Focus []topology.NodeID // nil: all of the drawing; else only what is at most Depth edges from one of these, policies included
	Depth int
	Taken []topology.NodeID // the nodes on the way of a request, which is marked
}

// Graph draws the targets asked for with everything above and below them, the policies that attach there, and where each is in
// force, partly in force or overridden.
func Graph(r *resolve.Resolution, q GraphQuery) *Topology {
	d := drawing{res: r, out: &Topology{Nodes: []GraphNode{}, Edges: []GraphEdge{}}, shown: map[topology.NodeID]bool{}, fate: map[fateKey]*fate{}, taken: map[topology.NodeID]bool{}}
	for _, id := range q.Taken {
		d.taken[id] = true
	}
	d.choose(q.Query)
	for _, id := range q.Focus {
		d.shown[id] = true
	}
	for id := range r.Len() {
		if d.shown[topology.NodeID(id)] {
			d.node(topology.NodeID(id))
		}
	}
	a := survey{res: r, query: Query{Kinds: q.Kinds}}
	problems := map[string][]model.Problem{} // by node
	a.each(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, _ []Path) {
		if d.shown[id] {
			o := k.Outcome(s)
			at := nodeID(r.Node(id))
			problems[at] = append(problems[at], o.Problems...)
			d.policies(id, o)
		}
	})
	d.attachments(q.Query)
	d.edges()
	if q.Focus != nil {
		d.narrow(q)
	}
	for _, n := range d.out.Nodes {
		a.found = append(a.found, problems[n.ID]...)
	}
	slices.SortFunc(d.out.Nodes, func(x, y GraphNode) int { return cmp.Compare(x.ID, y.ID) })
	slices.SortFunc(d.out.Edges, func(x, y GraphEdge) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.Kind, y.Kind))
	})
	// the instances of a route that others delegate to are drawn as one
	d.out.Nodes = slices.CompactFunc(d.out.Nodes, func(x, y GraphNode) bool { return x.ID == y.ID })
	d.out.Edges = slices.CompactFunc(d.out.Edges, GraphEdge.joins)
	d.out.Seal("Topology", a.problems())
	return d.out
}

type fateKey struct {
	policy *policy.Policy
	node   topology.NodeID
}

// fate is what became of a policy at an effective target, over all contexts.
type fate struct{ won, lost bool }

type drawing struct {
	res   *resolve.Resolution
	out   *Topology
	shown map[topology.NodeID]bool
	fate  map[fateKey]*fate
	taken map[topology.NodeID]bool // on the way of the request
}

// choose marks the nodes to show: the targets and all that is above and below them. Namespaces appear when something targets them.
func (d *drawing) choose(q Query) {
	g := d.res.Graph
	if q.Targets == nil {
		for id := range d.res.Len() {
			role := d.res.Node(topology.NodeID(id)).Role
			d.shown[topology.NodeID(id)] = role != topology.Namespace && role != topology.Port && role != topology.Opaque
		}
		return
	}
	var mark func(topology.NodeID, func(string, topology.NodeID) []topology.NodeID)
	seen := map[topology.NodeID]bool{}
	mark = func(id topology.NodeID, next func(string, topology.NodeID) []topology.NodeID) {
		if seen[id] {
			return
		}
		seen[id], d.shown[id] = true, d.res.Node(id).Role != topology.Port
		for _, n := range next(topology.All, id) {
			mark(n, next)
		}
	}
	for _, id := range q.Targets {
		if int(id) < g.Len() {
			mark(id, g.Parents)
			delete(seen, id)
		}
	}
	seen = map[topology.NodeID]bool{}
	for _, id := range q.Targets {
		if int(id) < g.Len() {
			mark(id, g.Children)
		}
		d.shown[id] = true
	}
}

// nodeID tells nodes apart. A Service that is a parent of routes is drawn beside the same Service as a backend.
func nodeID(n *topology.Node) string {
	if n.Role == topology.Frontend {
		return refID(n.Ref) + "#mesh"
	}
	return refID(n.Ref)
}

func refID(ref model.Ref) string {
	id := ref.GroupKind().String() + "/" + ref.FullName()
	if ref.Section != "" {
		id += "#" + ref.Section
	}
	return id
}

func (d *drawing) node(id topology.NodeID) {
	n := d.res.Node(id)
	labels := map[string]string{}
	if n.Object == nil {
		labels["state"] = "not in the input"
	}
	if n.Role == topology.Frontend {
		labels["mesh"] = "parent of routes"
	}
	var hosts []string
	if n.Role == topology.Route && n.Object != nil {
		list, _ := n.Object.Get("spec", "hostnames").([]any)
		for _, h := range list {
			hosts = append(hosts, fmt.Sprint(h))
		}
	}
	if d.taken[id] {
		labels["request"] = taken
	}
	if len(hosts) > 0 {
		labels["hostnames"] = strings.Join(hosts, ", ")
	}
	d.out.Nodes = append(d.out.Nodes, GraphNode{ID: nodeID(n), Ref: n.Ref, Kind: string(n.Role), Labels: labels})
}

// policies notes what became of every policy of a stack at one effective target.
func (d *drawing) policies(id topology.NodeID, o *resolve.Outcome) {
	at := func(layer int) *fate {
		key := fateKey{o.Layers[layer].Policy.Base(), id}
		if d.fate[key] == nil {
			d.fate[key] = &fate{}
		}
		return d.fate[key]
	}
	for _, r := range o.Result.Rules {
		for _, f := range r.From {
			if o.Layers[f.Layer].Policy.Builtin == "" {
				at(f.Layer).won = true
			}
		}
	}
	for _, l := range o.Losses() {
		if l.Reason != merge.NoEffect {
			at(l.From.Layer).lost = true
		}
	}
}

// attachments draws the policies that target a shown node, and the edges to it.
func (d *drawing) attachments(q Query) {
	drawnAlready := map[model.Ref]bool{}
	for _, k := range d.res.Kinds {
		if q.Kinds != nil && !slices.Contains(q.Kinds, k.GroupKind) {
			continue
		}
		for _, p := range k.Policies {
			targets := k.TargetsOf(p)
			drawn := q.Targets == nil && !k.Again()
			for _, id := range targets {
				drawn = drawn || d.shown[id]
			}
			if !drawn {
				continue
			}
			if drawnAlready[p.Ref()] {
				d.targets(p, targets)
				continue
			}
			drawnAlready[p.Ref()] = true
			d.out.Nodes = append(d.out.Nodes, GraphNode{ID: refID(p.Ref()), Ref: p.Ref(), Kind: "policy", Labels: map[string]string{"policyKind": k.Name()}})
			d.targets(p, targets)
		}
	}
}

// targets draws the edges from a policy to its targets.
func (d *drawing) targets(p *policy.Policy, targets []topology.NodeID) {
	for _, id := range targets {
		if !d.shown[id] {
			d.shown[id] = true
			d.node(id)
		}
		e := GraphEdge{From: refID(p.Ref()), To: nodeID(d.res.Node(id)), Kind: EdgeTargets}
		if p.Kind.Scopes == nil || !slices.ContainsFunc(d.out.Edges, e.joins) { // several scopes may have one target
			d.out.Edges = append(d.out.Edges, e)
		}
	}
}

func (d *drawing) edges() {
	for id := range d.res.Graph.Len() {
		from := topology.NodeID(id)
		for _, to := range d.res.Graph.Below(from) {
			if d.shown[from] && d.shown[to] {
				e := GraphEdge{From: nodeID(d.res.Node(from)), To: nodeID(d.res.Node(to)), Kind: EdgeParent}
				if d.taken[from] && d.taken[to] {
					e.State = taken
				}
				d.out.Edges = append(d.out.Edges, e)
			}
		}
	}
	for key, f := range d.fate {
		e := GraphEdge{From: refID(key.policy.Ref()), To: nodeID(d.res.Node(key.node)), Kind: EdgeOverridden}
		if f.won {
			e.Kind = EdgeEffective
			if f.lost {
				e.State = "partial"
			}
		}
		d.out.Edges = append(d.out.Edges, e)
	}
}
