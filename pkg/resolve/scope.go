package resolve

import (
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// scoped is where the parts of a kind's policies meet in one of its scopes. A stack is a set of parts in the kind's order. The nodes of each
// leg are grouped by the parts that hold there; what is in force for a group of callers at a group of targets is what both have (descriptor
// §5). Nothing is folded before somebody asks.
type scoped struct {
	*Kind
	parts []policy.Attached // in the comparator's order, over all policies
	tied  []int             // the first of the run of parts that nothing tells apart; itself for most

	timeless bool      // the age did not count when the parts were ordered
	stacks   [][]int32 // by StackID: positions in parts, ascending; 0 is empty
	ids      map[string]StackID

	callers []caller                           // of two legs: groups of nodes of the first
	sets    [][]int32                          // of two legs: what holds at targets, each set once
	setAt   []int32                            // by node: what holds there, 0 for nothing
	own     map[topology.NodeID]set            // what the last leg finds at the node itself
	meets   map[[2]int32][]StackID             // by caller and set: one, or with names several
	labels  [][]string                         // by part: the names that it is for; nil without a split
	ways    map[place][]Path                   // to targets of families, by stack and what holds there
	apart   map[*policy.Policy]topology.NodeID // of policies that hold below several roots: what stands for all their places

	situations map[StackID]*policy.Situation // of stacks whose fold depends on the target
}

type set []int32

// caller is nodes by which the same parts are selected.
type caller struct {
	parts set
	nodes []topology.NodeID
}

// scopedKinds resolves a kind scope by scope. They share their policies.
func (r *Resolution) scopedKinds(pk *policy.Kind, policies []*policy.Policy, settings model.Settings) []*Kind {
	if pk.Labels != nil && len(policies) > 0 {
		labels := pk.Labels(r.Snapshot, settings)
		for _, p := range policies {
			p.Labels = labels(p.Object)
		}
	}
	finders := map[string]policy.LegFinder{}
	shared := map[string]map[*policy.Policy][]topology.NodeID{}
	var out []*Kind
	for i := range pk.Scopes {
		s := &pk.Scopes[i]
		k := &scoped{Kind: &Kind{Kind: pk.In(s), Policies: policies, res: r, names: map[StackID]string{}}, ids: map[string]StackID{"": 0}, stacks: [][]int32{nil},
			own: map[topology.NodeID]set{}, meets: map[[2]int32][]StackID{}, ways: map[place][]Path{}}
		k.engine = k
		k.expect(policies)
		out = append(out, k.Kind)
		var tell func(topology.NodeID) *policy.Situation
		if s.Situation != nil {
			tell = s.Situation(r.Graph, r.Snapshot, settings)
		}
		if len(policies) == 0 && tell == nil {
			continue
		}
		var found [2][][]topology.NodeID // by leg and part
		k.cutParts()
		k.nameParts(settings)
		for l, leg := range s.Legs {
			if finders[leg.Name] == nil {
				finders[leg.Name], shared[leg.Name] = r.finder(leg, settings), map[*policy.Policy][]topology.NodeID{}
			}
			found[l] = make([][]topology.NodeID, len(k.parts))
			for i, a := range k.parts {
				found[l][i] = k.rightRoles(leg, k.find(leg, finders[leg.Name], shared[leg.Name], a.Policy))
			}
		}
		k.gather(found, tell)
	}
	return out
}

// finder finds the nodes of a leg.
func (r *Resolution) finder(leg policy.Leg, settings model.Settings) policy.LegFinder {
	if leg.Find != nil {
		return leg.Find(r.Graph, r.Snapshot, settings)
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

// find is the nodes of a leg for a part, with what was found for the whole policy if that is the same.
func (k *scoped) find(leg policy.Leg, find policy.LegFinder, shared map[*policy.Policy][]topology.NodeID, part *policy.Policy) []topology.NodeID {
	if !leg.Shared {
		nodes, problems := find(part)
		if !k.scopedBefore(leg) {
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

// scopedBefore reports whether an earlier scope of the kind has the same leg, so that its problems are told already.
func (k *scoped) scopedBefore(leg policy.Leg) bool {
	for i := range k.Scopes {
		if k.Scopes[i].Name == k.Scope.Name && &k.Scopes[i] == k.Scope {
			return false
		}
		if slices.ContainsFunc(k.Scopes[i].Legs, func(l policy.Leg) bool { return l.Name == leg.Name }) {
			return true
		}
	}
	return false
}

func (k *scoped) rightRoles(leg policy.Leg, nodes []topology.NodeID) []topology.NodeID {
	if leg.Roles == nil {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(id topology.NodeID) bool { return !slices.Contains(leg.Roles, k.res.Node(id).Role) })
}

// cutParts lists the parts of all policies in the comparator's order, and notes the ties.
func (k *scoped) cutParts() {
	var all []policy.Attached
	for _, p := range k.Policies {
		if p.Refused {
			continue
		}
		for _, part := range k.Kind.Kind.PartsOf(p, k.Scope) {
			all = append(all, policy.Attached{Policy: part, Ref: -1, Index: part.Index})
		}
	}
	k.parts, k.timeless = k.Order(all)
	k.tied = make([]int, len(all))
	for i := range k.parts {
		k.tied[i] = i
		if i > 0 && k.Tied(k.parts[k.tied[i-1]], k.parts[i]) {
			k.tied[i] = k.tied[i-1]
		}
	}
}

// meet groups the nodes and interns what holds at them.
func (k *scoped) gather(found [2][][]topology.NodeID, tell func(topology.NodeID) *policy.Situation) {
	k.at = make([][]StackID, k.res.Len())
	first := map[topology.NodeID]set{}
	for i, nodes := range found[0] {
		for _, id := range nodes {
			first[id] = append(first[id], int32(i))
		}
	}
	last := found[len(k.Scope.Legs)-1]
	for i, nodes := range last {
		k.note(k.parts[i].Policy, nodes)
	}
	k.standApart()
	switch {
	case tell != nil:
		k.situate(first, tell)
	case k.Scope.Situation != nil: // nothing of the vendor is there
	case len(k.Scope.Legs) == 1:
		for id, parts := range first {
			k.at[id] = []StackID{k.intern(parts, "")}
		}
	default:
		k.group(first)
		for i, nodes := range last {
			for _, id := range nodes {
				k.own[id] = append(k.own[id], int32(i))
			}
		}
		k.spread()
		k.res.Problems = append(k.res.Problems, k.hidden()...)
	}
	k.verdicts, k.bare = make([]*Verdict, len(k.stacks)), make([]bool, len(k.stacks))
	k.bare[0] = true
}

// note remembers where a policy is attached.
func (k *scoped) note(part *policy.Policy, nodes []topology.NodeID) {
	part.Places = append(part.Places, nodes...)
	to := k.of(part.Base())
	to.nodes = append(to.nodes, nodes...)
	to.sort()
}

// intern numbers a stack, which may be for one name only.
func (k *scoped) intern(parts set, name string) StackID {
	key := parts.key()
	if name != "" {
		key += "\xff" + name
	}
	id, ok := k.ids[key]
	if !ok {
		id = StackID(len(k.stacks))
		k.ids[key] = id
		if name != "" {
			k.names[id] = name
		}
		k.stacks = append(k.stacks, parts)
	}
	return id
}

func (s set) key() string {
	var b []byte
	for _, i := range s {
		b = binary.AppendUvarint(b, uint64(i))
	}
	return string(b)
}

// with is what is in either set.
func (s set) with(o set) set {
	if len(o) == 0 {
		return s
	}
	out := slices.Concat(s, o)
	slices.Sort(out)
	return slices.Compact(out)
}

// common is what is in both sets.
func (s set) common(o set) set {
	var out set
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
