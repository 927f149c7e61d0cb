package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// folding draws nodes of a topology as one.
type folding struct {
	from    *Topology
	index   map[string]int // of nodes, by id
	into    []int32        // by node: the one that it is drawn as, at first itself
	kept    []bool         // by node: what the drawing is about
	renamed map[int32]bool // by node that others are drawn as: it stands for all of them, itself too
	first   []int32        // by node: its first edge out, and one behind the last
}

func newFolding(t *Topology) *folding {
	f := &folding{from: t, index: make(map[string]int, len(t.Nodes)), into: make([]int32, len(t.Nodes)), kept: make([]bool, len(t.Nodes)), renamed: map[int32]bool{}}
	for i := range t.Nodes {
		f.index[t.Nodes[i].ID], f.into[i] = i, int32(i)
	}
	for _, id := range t.Focus {
		if i, drawn := f.index[id]; drawn {
			f.kept[i] = true
		}
	}
	return f
}

// out lists the edges that start at a node.
func (f *folding) out(i int) []GraphEdge {
	if f.first == nil {
		f.first = make([]int32, len(f.from.Nodes)+1)
		at := 0
		for n := range f.from.Nodes { // both are sorted
			for at < len(f.from.Edges) && f.from.Edges[at].From < f.from.Nodes[n].ID {
				at++
			}
			f.first[n] = int32(at)
			for at < len(f.from.Edges) && f.from.Edges[at].From == f.from.Nodes[n].ID {
				at++
			}
			f.first[n+1] = int32(at)
		}
	}
	return f.from.Edges[f.first[i]:f.first[i+1]]
}

// topology is what is drawn. A node that stands for more than itself gets its labels from describe, which has the members in order.
func (f *folding) topology(level string, describe func(g *GraphNode, members []int32)) *Topology {
	out := &Topology{Envelope: f.from.Envelope, Focus: f.from.Focus, Collapsed: level, Requests: f.from.Requests}
	members := make(map[int32][]int32)
	for i, to := range f.into {
		members[to] = append(members[to], int32(i))
	}
	ids := make([]string, len(f.into))
	for i, to := range f.into {
		if int32(i) != to {
			continue
		}
		n := f.from.Nodes[i]
		if of := members[to]; len(of) > 1 || f.renamed[to] {
			n.Labels = maps.Clone(n.Labels)
			describe(&n, of)
			withLabel(n.Labels, labelProxy, f.proxied(to, of))
			if f.renamed[to] {
				n.ID = f.freeID(n.ID)
			}
		}
		ids[i] = n.ID
		out.Nodes = append(out.Nodes, n)
	}
	out.Edges = f.edges(ids)
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

// strand is an edge by what it is drawn between. Those that agree in everything but the edge are drawn as one.
type strand struct {
	from, to int32
	class    edgeKind
	dangling bool
	edge     int32
}

func (s strand) compare(x strand) int {
	return cmp.Or(cmp.Compare(s.from, x.from), cmp.Compare(s.to, x.to), cmp.Compare(s.class, x.class), cmp.Compare(boolRank(s.dangling), boolRank(x.dangling)))
}

// edges are the edges between what is drawn; those within one node are not.
func (f *folding) edges(ids []string) []GraphEdge {
	strands := make([]strand, 0, len(f.from.Edges))
	for i := range f.from.Nodes {
		for n := range f.out(i) {
			at := f.first[i] + int32(n)
			e := &f.from.Edges[at]
			if to := f.into[f.index[e.To]]; to != f.into[i] {
				strands = append(strands, strand{f.into[i], to, classOf(e), e.State == EdgeDangling, at})
			}
		}
	}
	slices.SortStableFunc(strands, strand.compare)
	out := []GraphEdge{}
	for len(strands) > 0 {
		end := 1
		for end < len(strands) && strands[end].compare(strands[0]) == 0 {
			end++
		}
		e := f.merged(strands[:end], ids)
		e.From, e.To = ids[strands[0].from], ids[strands[0].to]
		out, strands = append(out, e), strands[end:]
	}
	slices.SortFunc(out, func(a, b GraphEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	})
	return out
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func classOf(e *GraphEdge) edgeKind {
	switch e.Kind {
	case EdgeParent:
		return parentEdge
	case EdgeTargets:
		return targetsEdge
	}
	return fateEdge
}

// merged is one edge for several of one class: wholly in force or lost where all are, else partly.
func (f *folding) merged(strands []strand, ids []string) GraphEdge {
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
		words[e.word()] = true
		out.Proxy = cmp.Or(out.Proxy, e.Proxy)
		for _, id := range e.By {
			if i, drawn := f.index[id]; drawn {
				id = ids[f.into[i]]
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
	switch word := joinedWord(words); classOf(&out) {
	case fateEdge:
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

// word is the state of an edge, which for what became of a policy is in its kind as well.
func (e *GraphEdge) word() string {
	if classOf(e) == fateEdge {
		return cmp.Or(e.State, e.Kind)
	}
	return e.State
}

// joinedWord is what became of several: the same for all, or partly.
func joinedWord(words map[string]bool) string {
	if len(words) == 1 {
		for w := range words {
			return w
		}
	}
	if !words[EdgeWhole] && !words[EdgePartial] {
		return EdgeLost // some reach nothing
	}
	return EdgePartial
}

// count writes a number into a label, "" for none.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// counted is the number in a label, 0 if there is none.
func counted(labels map[string]string, key string) int {
	n, err := strconv.Atoi(labels[key])
	if err != nil {
		return 0
	}
	return n
}

// withLabel sets a label, or leaves it as it is if there is no value.
func withLabel(labels map[string]string, key, value string) map[string]string {
	if value != "" {
		labels[key] = value
	}
	return labels
}

// sampleNames is how many names of members are told.
const sampleNames = 3

// sample are the first names of some objects.
func sample(refs []model.Ref) string {
	var names []string
	for _, r := range refs[:min(len(refs), sampleNames)] {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// common are the labels that all nodes have alike.
func (f *folding) common(members []int32) map[string]string {
	out := maps.Clone(f.from.Nodes[members[0]].Labels)
	for _, i := range members[1:] {
		maps.DeleteFunc(out, func(key, value string) bool {
			got, has := f.from.Nodes[i].Labels[key]
			return !has || got != value
		})
	}
	return out
}

// membersOf are the objects that nodes stand for, sorted.
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
