package view

import (
	"encoding/binary"
	"slices"

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
	collector       collector
	inForceByAnswer map[*stackAnswer]*InForce
	pathCache       map[topology.NodeID][]resolve.Path
}

// NewEffectiveTargets folds all policies of an input.
func NewEffectiveTargets(r *resolve.Resolution) *EffectiveTargets {
	p := &EffectiveTargets{collector: collector{res: r}, inForceByAnswer: map[*stackAnswer]*InForce{}, pathCache: map[topology.NodeID][]resolve.Path{}}
	p.collector.initialize()
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
	for _, way := range p.trafficPaths(id) {
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

// trafficPaths returns the paths from where traffic comes in down to a node, whether or not a
// policy kind follows them.
func (p *EffectiveTargets) trafficPaths(id topology.NodeID) []resolve.Path {
	if int(id) >= p.collector.res.Graph.Len() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.pathsDownTo(id)), func(way resolve.Path) bool {
		switch p.collector.res.Node(way[0]).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Frontend:
			return false
		}
		return true
	})
}

// pathsDownTo returns the paths from the roots to a node. Those to nodes above route rules are kept
// for the next call.
func (p *EffectiveTargets) pathsDownTo(id topology.NodeID) []resolve.Path {
	if known, ok := p.pathCache[id]; ok {
		return known
	}
	g := p.collector.res.Graph
	var out []resolve.Path
	for _, parent := range g.Parents(topology.All, id) {
		for _, way := range p.pathsDownTo(parent) {
			out = append(out, append(way[:len(way):len(way)], id))
		}
	}
	if out == nil {
		out = []resolve.Path{{id}}
	}
	switch g.Node(id).Role {
	case topology.Rule, topology.Backend, topology.Port:
	default:
		p.pathCache[id] = out
	}
	return out
}

// inForceOf returns what is in force with a stack.
func (p *EffectiveTargets) inForceOf(k *resolve.Kind, s resolve.StackID) *InForce {
	a := p.collector.answerOf(k, s)
	if p.inForceByAnswer[a] == nil {
		p.inForceByAnswer[a] = &InForce{Kind: k, Policy: a.policy, Problems: a.problems, id: len(p.inForceByAnswer)}
	}
	return p.inForceByAnswer[a]
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
		m.paths[i].inForce = append(m.paths[i].inForce, m.targets.inForceOf(k, s))
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
