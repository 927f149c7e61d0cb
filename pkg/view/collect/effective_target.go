package collect

import (
	"encoding/binary"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// EffectiveTarget is one effective target with the paths on which the same is in force there.
type EffectiveTarget struct {
	Node    topology.NodeID
	Target  model.Ref
	Paths   []view.Path // on all of which the same is in force; not to be changed
	InForce []*InForce  // by policy kind, those of kinds without policies there left out
}

// InForce is what all targets have in common that are reached with the same policies of one kind.
// Two targets with the same pointer have the same in force.
type InForce struct {
	Kind     *resolve.Kind
	Policy   view.EffectivePolicy // without a target and paths; without rules, nothing is in force
	Problems []model.Problem      // found when the policies were merged

	id int
}

// EffectiveTargets finds the effective targets of an input. It is not safe for concurrent use.
type EffectiveTargets struct {
	collector *Collector
	inForce   InForceCache
	paths     *TrafficPaths
}

// NewEffectiveTargets folds all policies of an input.
func NewEffectiveTargets(r *resolve.Resolution) *EffectiveTargets {
	p := &EffectiveTargets{collector: New(r, view.Query{}), inForce: InForceCache{}, paths: NewTrafficPaths(r)}
	p.collector.answers.buildAll(r, p.collector.AskedKinds)
	return p
}

// At returns the effective targets at a node, one for each set of paths with the same in force. A
// route rule, or any other node that traffic passes, has one also where no policy is in force. A
// rule that delegates to other routes has none.
func (p *EffectiveTargets) At(id topology.NodeID) []EffectiveTarget {
	n := p.collector.Resolution.Node(id)
	if n.Delegates {
		return nil
	}
	met := nodePaths{targets: p, index: map[string]int{}}
	for _, way := range p.paths.To(id) {
		met.addPath(nil, 0, PathKey(way), pathInForce{nodes: way})
	}
	for _, k := range p.collector.AskedKinds {
		if !k.HasResultsAtNode(n) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if !k.IsEmpty(s) {
				p.addPaths(&met, k, id, s)
			}
		}
	}
	return met.buildTargets(id, n.Ref)
}

// addPaths adds the paths on which a stack of a kind comes to a node.
func (p *EffectiveTargets) addPaths(met *nodePaths, k *resolve.Kind, id topology.NodeID, s resolve.StackID) {
	ways := k.Paths(id, s)
	if k.Scope == nil {
		for _, way := range ways {
			met.addPath(k, s, PathKey(way), pathInForce{nodes: way})
		}
		return
	}
	for _, path := range p.collector.ConvertTargetPaths(k, id, s, ways) {
		met.addPath(k, s, "\xff"+path.Key(), pathInForce{paths: []view.Path{path}})
	}
}

// HasRules reports whether anything is in force.
func (f *InForce) HasRules() bool { return len(f.Policy.Rules) > 0 }

// InForceCache holds what is in force by the answer of the stack.
type InForceCache map[*stackAnswer]*InForce

// Find returns what is in force with the policies of an answer.
func (c InForceCache) Find(k *resolve.Kind, a *stackAnswer) *InForce {
	known := c[a]
	if known == nil {
		known = &InForce{Kind: k, Policy: a.policy, Problems: a.problems, id: len(c)}
		c[a] = known
	}
	return known
}

// nodePaths gathers what is in force at one node, path by path.
type nodePaths struct {
	targets *EffectiveTargets
	paths   []pathInForce
	index   map[string]int // the position of a path
}

// pathInForce is one path to a node, with what is in force at its end.
type pathInForce struct {
	nodes   resolve.Path
	paths   []view.Path // of a kind with scopes, in place of nodes
	inForce []*InForce
}

// addPath adds a path, and the stack of a kind that comes on it; without a kind only the path.
func (m *nodePaths) addPath(k *resolve.Kind, s resolve.StackID, key string, r pathInForce) {
	i, known := m.index[key]
	if !known {
		i = len(m.paths)
		m.index[key] = i
		m.paths = append(m.paths, r)
	}
	if k != nil {
		m.paths[i].inForce = append(m.paths[i].inForce, m.targets.inForce.Find(k, m.targets.collector.answerOf(k, s)))
	}
}

// buildTargets returns the effective targets of the node: paths with the same in force share one.
func (m *nodePaths) buildTargets(id topology.NodeID, target model.Ref) []EffectiveTarget {
	var out []EffectiveTarget
	var ways [][]resolve.Path
	known := map[string]int{}
	for _, r := range m.paths {
		var key []byte
		for _, f := range r.inForce {
			key = binary.AppendUvarint(key, uint64(f.id))
		}
		at, ok := known[string(key)]
		if !ok {
			at = len(out)
			known[string(key)] = at
			out, ways = append(out, EffectiveTarget{Node: id, Target: target, InForce: r.inForce}), append(ways, nil)
		}
		if r.nodes != nil {
			ways[at] = append(ways[at], r.nodes)
		}
		out[at].Paths = append(out[at].Paths, r.paths...)
	}
	for i := range out {
		if ways[i] == nil {
			out[i].Paths = view.SortPaths(out[i].Paths)
		} else {
			out[i].Paths = m.targets.collector.ConvertPaths(ways[i])
		}
	}
	return out
}

// PathKey returns a key that tells paths apart.
func PathKey(way resolve.Path) string {
	key := make([]byte, 0, 4*len(way))
	for _, id := range way {
		key = binary.AppendUvarint(key, uint64(id))
	}
	return string(key)
}
