package graph

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// folding replaces nodes of a topology by fewer ones, each of which stands for several.
type folding struct {
	from       *Topology
	index      map[string]int // of nodes, by id
	foldedInto []int32        // by node: the one that it is drawn as, at first itself
	kept       []bool         // by node: what the drawing is about
	renamed    map[int32]bool // by node that others are drawn as: it stands for all of them, itself too
	firstEdge  []int32        // by node: its first edge out, and one behind the last
}

func newFolding(t *Topology) *folding {
	f := &folding{from: t, index: make(map[string]int, len(t.Nodes)), foldedInto: make([]int32, len(t.Nodes)),
		kept: make([]bool, len(t.Nodes)), renamed: map[int32]bool{}}
	for i := range t.Nodes {
		f.index[t.Nodes[i].ID], f.foldedInto[i] = i, int32(i)
	}
	for _, id := range t.Focus {
		if i, drawn := f.index[id]; drawn {
			f.kept[i] = true
		}
	}
	for i := range t.Nodes {
		f.kept[i] = f.kept[i] || t.Nodes[i].IsPoint()
	}
	return f
}

// edgesFrom returns the edges that start at a node.
func (f *folding) edgesFrom(i int) []GraphEdge {
	if f.firstEdge == nil {
		f.firstEdge = make([]int32, len(f.from.Nodes)+1)
		at := 0
		for n := range f.from.Nodes { // both are sorted
			for at < len(f.from.Edges) && f.from.Edges[at].From < f.from.Nodes[n].ID {
				at++
			}
			f.firstEdge[n] = int32(at)
			for at < len(f.from.Edges) && f.from.Edges[at].From == f.from.Nodes[n].ID {
				at++
			}
			f.firstEdge[n+1] = int32(at)
		}
	}
	return f.from.Edges[f.firstEdge[i]:f.firstEdge[i+1]]
}

// buildTopology returns the folded topology. A node that stands for more than itself gets its
// labels from describe, which has the members in order.
func (f *folding) buildTopology(level string, describe func(g *GraphNode, members []int32)) *Topology {
	out := &Topology{Envelope: f.from.Envelope, Focus: f.from.Focus, Collapsed: level, Requests: f.from.Requests}
	members := make(map[int32][]int32)
	for i, to := range f.foldedInto {
		members[to] = append(members[to], int32(i))
	}
	ids := make([]string, len(f.foldedInto))
	for i, to := range f.foldedInto {
		if int32(i) != to {
			continue
		}
		n := f.from.Nodes[i]
		if of := members[to]; len(of) > 1 || f.renamed[to] {
			n.Labels = maps.Clone(n.Labels)
			describe(&n, of)
			setLabel(n.Labels, labelProxy, f.proxyLabel(to, of))
			if f.renamed[to] {
				n.ID = f.freeID(n.ID)
			}
		}
		ids[i] = n.ID
		out.Nodes = append(out.Nodes, n)
	}
	out.Edges = f.foldEdges(ids)
	slices.SortFunc(out.Nodes, func(a, b GraphNode) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// freeID is an id that no node has, which says whose it was.
func (f *folding) freeID(id string) string {
	for {
		id = "+" + id
		if _, taken := f.index[id]; !taken {
			return id
		}
	}
}

// foldedEdge is an edge between folded nodes. Those that agree in everything but the edge become
// one.
type foldedEdge struct {
	from, to int32
	kind     edgeKind
	dangling bool
	edge     int32
}

func (s foldedEdge) compare(x foldedEdge) int {
	return cmp.Or(cmp.Compare(s.from, x.from), cmp.Compare(s.to, x.to), cmp.Compare(s.kind, x.kind),
		cmp.Compare(boolRank(s.dangling), boolRank(x.dangling)))
}

// foldEdges returns the edges between the folded nodes, without those within one node.
func (f *folding) foldEdges(ids []string) []GraphEdge {
	strands := make([]foldedEdge, 0, len(f.from.Edges))
	for i := range f.from.Nodes {
		for n := range f.edgesFrom(i) {
			at := f.firstEdge[i] + int32(n)
			e := &f.from.Edges[at]
			if to := f.foldedInto[f.index[e.To]]; to != f.foldedInto[i] {
				strands = append(strands, foldedEdge{f.foldedInto[i], to, edgeKindOf(e), e.State == EdgeDangling, at})
			}
		}
	}
	slices.SortStableFunc(strands, foldedEdge.compare)
	out := []GraphEdge{}
	for len(strands) > 0 {
		end := 1
		for end < len(strands) && strands[end].compare(strands[0]) == 0 {
			end++
		}
		e := f.mergeEdges(strands[:end], ids)
		e.From, e.To = ids[strands[0].from], ids[strands[0].to]
		out, strands = append(out, e), strands[end:]
	}
	slices.SortFunc(out, func(a, b GraphEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.State, b.State))
	})
	return out
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func edgeKindOf(e *GraphEdge) edgeKind {
	switch e.Kind {
	case EdgeParent:
		return parentEdge
	case EdgeTargets:
		return targetsEdge
	}
	return enforcementEdge
}

// mergeEdges returns one edge for several of one kind: wholly in force or lost if all are, else
// partly.
func (f *folding) mergeEdges(strands []foldedEdge, ids []string) GraphEdge {
	out := f.from.Edges[strands[0].edge]
	if len(strands) == 1 && len(out.By) == 0 {
		return out
	}
	total := 0
	words, by := map[string]bool{}, map[string]bool{}
	out.Proxy = ""
	for _, s := range strands {
		e := &f.from.Edges[s.edge]
		total += max(1, e.Count)
		words[e.stateWord()] = true
		out.Proxy, out.Paths = cmp.Or(out.Proxy, e.Proxy), mergePaths(out.Paths, e.Paths)
		for _, id := range e.By {
			if i, drawn := f.index[id]; drawn {
				id = ids[f.foldedInto[i]]
			}
			by[id] = true
		}
	}
	out.Count, out.By = 0, nil
	if total > 1 {
		out.Count = total
	}
	if len(by) > 0 {
		out.By = slices.Sorted(maps.Keys(by))
	}
	switch word := joinStates(words); edgeKindOf(&out) {
	case enforcementEdge:
		out.Kind, out.State = word, ""
		if word == EdgePartial {
			out.Kind, out.State = EdgeEffective, EdgePartial
		}
	case targetsEdge:
		out.State = word
	default:
		if words[EdgeTaken] {
			out.State = EdgeTaken
		}
	}
	return out
}

// stateWord returns the state of an edge. Edges that say how far a policy is in force may have it
// as their kind.
func (e *GraphEdge) stateWord() string {
	if edgeKindOf(e) == enforcementEdge {
		return cmp.Or(e.State, e.Kind)
	}
	return e.State
}

// joinStates returns the state of several edges together: the same if all have it, else partly in
// force.
func joinStates(words map[string]bool) string {
	if len(words) == 1 {
		for w := range words {
			return w
		}
	}
	if !words[EdgeFullyEffective] && !words[EdgePartial] {
		return EdgeFullyOverridden // some reach nothing
	}
	return EdgePartial
}

// formatLabelCount writes a number into a label, "" for none.
func formatLabelCount(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// readLabelCount returns the number in a label, 0 if there is none.
func readLabelCount(labels map[string]string, key string) int {
	n, err := strconv.Atoi(labels[key])
	if err != nil {
		return 0
	}
	return n
}

// setLabel sets a label; an empty value changes nothing.
func setLabel(labels map[string]string, key, value string) map[string]string {
	if value != "" {
		labels[key] = value
	}
	return labels
}

// maxSampleNames is how many names of members are told.
const maxSampleNames = 3

// joinSampleNames lists the first names of some objects.
func joinSampleNames(refs []model.Ref) string {
	var names []string
	for _, r := range refs[:min(len(refs), maxSampleNames)] {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// commonLabels returns the labels that all nodes have alike.
func (f *folding) commonLabels(members []int32) map[string]string {
	out := maps.Clone(f.from.Nodes[members[0]].Labels)
	for _, i := range members[1:] {
		maps.DeleteFunc(out, func(key, value string) bool {
			got, has := f.from.Nodes[i].Labels[key]
			return !has || got != value
		})
	}
	return out
}

// membersOf returns the objects that nodes stand for, sorted.
func (f *folding) membersOf(members []int32) []model.Ref {
	var out []model.Ref
	for _, i := range members {
		n := &f.from.Nodes[i]
		if n.Members != nil {
			out = append(out, n.Members...)
		} else {
			out = append(out, n.Ref)
		}
	}
	slices.SortFunc(out, model.Ref.Compare)
	return slices.Compact(out)
}

// isPart reports whether a node is part of another one's object.
func isPart(n *GraphNode) bool {
	switch topology.Role(n.Kind) {
	case topology.Rule, topology.Listener, topology.Port:
		return true
	}
	return false
}
