package view

import (
	"encoding/binary"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// EffectiveTarget is one effective target with the paths on which the same is in force there.
type EffectiveTarget struct {
	Node    topology.NodeID
	Target  model.Ref
	Paths   []Path     // on all of which the same is in force; not to be changed
	InForce []*InForce // by policy kind, those of kinds without policies there left out
}

// InForce is what all targets have in common that are reached with the same policies of one kind.
// Two targets with the same pointer have the same in force.
type InForce struct {
	Kind     *resolve.Kind
	Policy   EffectivePolicy // without a target and paths; without rules, nothing is in force
	Problems []model.Problem // found when the policies were merged

	id int
}

// EffectiveTargets finds the effective targets of an input. It is not safe for concurrent use.
type EffectiveTargets struct {
	collector *collector
	inForce   inForceCache
	paths     *trafficPaths
}

// NewEffectiveTargets folds all policies of an input.
func NewEffectiveTargets(r *resolve.Resolution) *EffectiveTargets {
	p := &EffectiveTargets{collector: newCollector(r, Query{}), inForce: inForceCache{}, paths: newTrafficPaths(r)}
	p.collector.answers.buildAll(r, p.collector.askedKinds)
	return p
}

// At returns the effective targets at a node, one for each set of paths with the same in force. A
// route rule, or any other node that traffic passes, has one also where no policy is in force. A
// rule that delegates to other routes has none.
func (p *EffectiveTargets) At(id topology.NodeID) []EffectiveTarget {
	n := p.collector.res.Node(id)
	if n.Delegates {
		return nil
	}
	met := nodePaths{targets: p, index: map[string]int{}}
	for _, way := range p.paths.to(id) {
		met.addPath(nil, 0, pathKey(way), pathInForce{nodes: way})
	}
	for _, k := range p.collector.askedKinds {
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
			met.addPath(k, s, pathKey(way), pathInForce{nodes: way})
		}
		return
	}
	for _, path := range p.collector.convertTargetPaths(k, id, s, ways) {
		met.addPath(k, s, "\xff"+path.Key(), pathInForce{paths: []Path{path}})
	}
}

// hasRules reports whether anything is in force.
func (f *InForce) hasRules() bool { return len(f.Policy.Rules) > 0 }

// inForceCache holds what is in force by the answer of the stack.
type inForceCache map[*stackAnswer]*InForce

// find returns what is in force with the policies of an answer.
func (c inForceCache) find(k *resolve.Kind, a *stackAnswer) *InForce {
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
	paths   []Path // of a kind with scopes, in place of nodes
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
		m.paths[i].inForce = append(m.paths[i].inForce, m.targets.inForce.find(k, m.targets.collector.answerOf(k, s)))
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
			out[i].Paths = sortPaths(out[i].Paths)
		} else {
			out[i].Paths = m.targets.collector.convertPaths(ways[i])
		}
	}
	return out
}

// pathKey returns a key that tells paths apart.
func pathKey(way resolve.Path) string {
	key := make([]byte, 0, 4*len(way))
	for _, id := range way {
		key = binary.AppendUvarint(key, uint64(id))
	}
	return string(key)
}

// PathsVia says how traffic comes to a target on some paths: "Gateway infra/external (http,
// https)". It is "" where the paths say nothing that the target's own name does not.
func PathsVia(paths []Path, target model.Ref) string {
	seen := make([]Path, len(paths))
	for i, p := range paths {
		seen[i] = p.withoutTarget(target)
	}
	return viaText(sortPaths(seen), target.WithoutSection(), TableOptions{})
}
