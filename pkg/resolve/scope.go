package resolve

import (
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// scopeEngine is where the parts of a kind's policies meet in one of its scopes. A stack is a set
// of parts in the kind's order. The nodes of each point are grouped by the parts that hold there;
// what is in force for a group of callers at a group of targets is what both have.
// Nothing is folded before somebody asks.
type scopeEngine struct {
	*Kind
	parts     []policy.Attached // in the comparator's order, over all policies
	tieStarts []int             // the first of the run of parts that nothing tells apart; itself for most

	ageIgnored bool      // the age did not count when the parts were ordered
	stacks     [][]int32 // by StackID: positions in parts, ascending; 0 is empty
	ids        map[string]StackID

	callers    []callerGroup               // of two points: groups of nodes of the first
	sets       [][]int32                   // of two points: what holds at targets, each set once
	setAt      []int32                     // by node: what holds there, 0 for nothing
	ownParts   map[topology.NodeID]partSet // what is found for the last point at the node itself
	meetings   map[[2]int32][]StackID      // by caller and set: one, or with names several
	partNames  [][]string                  // by part: the names that it is for; nil without a split
	knownPaths map[stackNode][]Path        // to targets of families, by stack and what holds there
	// of policies that hold below several roots: the one node that represents their places
	separatePlaces map[*policy.Policy]topology.NodeID

	situations map[StackID]*policy.Situation // of stacks whose fold depends on the target
}

type partSet []int32

// callerGroup is nodes by which the same parts are selected.
type callerGroup struct {
	parts partSet
	nodes []topology.NodeID
}

// resolveScopes resolves a kind scope by scope. The scopes share their policies.
func (r *Resolution) resolveScopes(pk *policy.Kind, policies []*policy.Policy, settings model.Settings) []*Kind {
	if pk.Labels != nil && len(policies) > 0 {
		labels := pk.Labels(r.Snapshot, settings)
		for _, p := range policies {
			p.Labels = labels(p.Object)
		}
	}
	finders := map[string]policy.PointFinder{}
	shared := map[string]map[*policy.Policy][]topology.NodeID{}
	var out []*Kind
	for i := range pk.Scopes {
		s := &pk.Scopes[i]
		k := &scopeEngine{Kind: &Kind{Kind: pk.InScope(s), Attachments: attach.Attachments{Policies: policies}, res: r,
			stackNames: map[StackID]string{}}, ids: map[string]StackID{"": 0}, stacks: [][]int32{nil},
			ownParts: map[topology.NodeID]partSet{}, meetings: map[[2]int32][]StackID{},
			knownPaths: map[stackNode][]Path{}}
		k.engine = k
		k.MakeRoom(policies)
		out = append(out, k.Kind)
		var tell func(topology.NodeID) *policy.Situation
		if s.Situation != nil {
			tell = s.Situation(r.Graph, r.Snapshot, settings)
		}
		if len(policies) == 0 && tell == nil {
			continue
		}
		var found [2][][]topology.NodeID // by point and part
		k.cutParts()
		k.nameParts(settings)
		for l, leg := range s.Points {
			if finders[leg.Name] == nil {
				finders[leg.Name], shared[leg.Name] = r.newPointFinder(leg,
					settings), map[*policy.Policy][]topology.NodeID{}
			}
			found[l] = make([][]topology.NodeID, len(k.parts))
			for i, a := range k.parts {
				found[l][i] = k.filterByRole(leg, k.findNodes(leg, finders[leg.Name], shared[leg.Name], a.Policy))
			}
		}
		k.groupNodes(found, tell)
	}
	return out
}

// newPointFinder returns what finds the nodes of a point.
func (r *Resolution) newPointFinder(leg policy.PathPoint, settings model.Settings) policy.PointFinder {
	if leg.Search != nil {
		return leg.Search(r.Graph, r.Snapshot, settings)
	}
	return func(p *policy.Policy) (nodes []topology.NodeID, problems []model.Problem) {
		for _, form := range p.Kind.Refs {
			if form.Attach == nil {
				continue
			}
			found, why := form.Attach(p, r.Graph, r.Snapshot, p.Kind.Settings)
			problems = append(problems, why...)
			for _, a := range found {
				nodes = append(nodes, a.Node)
			}
		}
		return nodes, problems
	}
}

// findNodes returns the nodes of a point for a part, with what was found for the whole policy if
// that is the same.
func (k *scopeEngine) findNodes(leg policy.PathPoint, find policy.PointFinder,
	shared map[*policy.Policy][]topology.NodeID, part *policy.Policy) []topology.NodeID {
	if !leg.Shared {
		nodes, problems := find(part)
		if !k.isInEarlierScope(leg) {
			k.res.Problems = append(k.res.Problems, problems...)
		}
		return nodes
	}
	nodes, ok := shared[part.Base()]
	if !ok {
		var problems []model.Problem
		nodes, problems = find(part.Base())
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		shared[part.Base()] = nodes
		k.res.Problems = append(k.res.Problems, problems...)
	}
	return nodes
}

// isInEarlierScope reports whether an earlier scope of the kind has the same point, so that its
// problems are reported already.
func (k *scopeEngine) isInEarlierScope(leg policy.PathPoint) bool {
	for i := range k.Scopes {
		if k.Scopes[i].Name == k.Scope.Name && &k.Scopes[i] == k.Scope {
			return false
		}
		if slices.ContainsFunc(k.Scopes[i].Points, func(l policy.PathPoint) bool { return l.Name == leg.Name }) {
			return true
		}
	}
	return false
}

func (k *scopeEngine) filterByRole(leg policy.PathPoint, nodes []topology.NodeID) []topology.NodeID {
	if leg.Roles == nil {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(id topology.NodeID) bool {
		return !slices.Contains(leg.Roles,
			k.res.Node(id).Role)
	})
}

// cutParts lists the parts of all policies in the comparator's order, and notes the ties.
func (k *scopeEngine) cutParts() {
	var all []policy.Attached
	for _, p := range k.Policies {
		if p.Refused {
			continue
		}
		for _, part := range k.Kind.Kind.PartsOf(p, k.Scope) {
			all = append(all, policy.Attached{Policy: part, Ref: -1, Index: part.Index})
		}
	}
	k.parts, k.ageIgnored = k.Order(all)
	k.tieStarts = make([]int, len(all))
	for i := range k.parts {
		k.tieStarts[i] = i
		if i > 0 && k.IsTied(k.parts[k.tieStarts[i-1]], k.parts[i]) {
			k.tieStarts[i] = k.tieStarts[i-1]
		}
	}
}

// groupNodes groups the nodes and interns what holds at them.
func (k *scopeEngine) groupNodes(found [2][][]topology.NodeID, tell func(topology.NodeID) *policy.Situation) {
	k.contexts = make([][]StackID, k.res.Len())
	first := map[topology.NodeID]partSet{}
	for i, nodes := range found[0] {
		for _, id := range nodes {
			first[id] = append(first[id], int32(i))
		}
	}
	last := found[len(k.Scope.Points)-1]
	for i, nodes := range last {
		k.addPlaces(k.parts[i].Policy, nodes)
	}
	k.findSeparatePlaces()
	switch {
	case tell != nil:
		k.internSituations(first, tell)
	case k.Scope.Situation != nil: // nothing of the vendor is there
	case len(k.Scope.Points) == 1:
		for id, parts := range first {
			k.contexts[id] = []StackID{k.internStack(parts, "")}
		}
	default:
		k.groupCallers(first)
		for i, nodes := range last {
			for _, id := range nodes {
				k.ownParts[id] = append(k.ownParts[id], int32(i))
			}
		}
		k.spreadParts()
		k.res.Problems = append(k.res.Problems, k.findHidden()...)
	}
	k.verdicts, k.emptyStacks = make([]*Verdict, len(k.stacks)), make([]bool, len(k.stacks))
	k.emptyStacks[0] = true
}

// addPlaces remembers where a policy is attached.
func (k *scopeEngine) addPlaces(part *policy.Policy, nodes []topology.NodeID) {
	part.Places = append(part.Places, nodes...)
	to := k.TargetListOf(part.Base())
	to.Nodes = append(to.Nodes, nodes...)
	to.SortNodes()
}

// internStack numbers a stack, which may be for one name only.
func (k *scopeEngine) internStack(parts partSet, name string) StackID {
	key := parts.encode()
	if name != "" {
		key += "\xff" + name
	}
	id, ok := k.ids[key]
	if !ok {
		id = StackID(len(k.stacks))
		k.ids[key] = id
		if name != "" {
			k.stackNames[id] = name
		}
		k.stacks = append(k.stacks, parts)
	}
	return id
}

func (s partSet) encode() string {
	var b []byte
	for _, i := range s {
		b = binary.AppendUvarint(b, uint64(i))
	}
	return string(b)
}

// union returns what is in either set.
func (s partSet) union(o partSet) partSet {
	if len(o) == 0 {
		return s
	}
	out := slices.Concat(s, o)
	slices.Sort(out)
	return slices.Compact(out)
}

// intersection returns what is in both sets.
func (s partSet) intersection(o partSet) partSet {
	var out partSet
	for i, j := 0, 0; i < len(s) && j < len(o); {
		switch {
		case s[i] < o[j]:
			i++
		case s[i] > o[j]:
			j++
		default:
			out = append(out, s[i])
			i, j = i+1, j+1
		}
	}
	return out
}
