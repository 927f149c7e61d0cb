package view

import (
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// EffectiveTarget is one effective target as traffic reaches it on some paths, with what is in force there.
type EffectiveTarget struct {
	Node    topology.NodeID
	Target  model.Ref
	Paths   []Path     // on all of which the same is in force; not to be changed
	InForce []*InForce // by policy kind, those of kinds without policies there left out
}

// InForce is what all targets have in common that are reached with the same policies of one kind. Places share it: two that have the same
// one have the same in force.
type InForce struct {
	Kind     *resolve.Kind
	Policy   EffectivePolicy // without a target and paths; without rules, nothing is in force
	Problems []model.Problem // found when the policies were merged

	number int
}

// EffectiveTargets are all places of an input. Not safe for concurrent use.
type EffectiveTargets struct {
	collector collector
	shared    map[*answer]*InForce
	paths     map[topology.NodeID][]resolve.Path
}

// NewEffectiveTargets merges the policies of an input, all of them.
func NewEffectiveTargets(r *resolve.Resolution) *EffectiveTargets {
	p := &EffectiveTargets{collector: collector{res: r}, shared: map[*answer]*InForce{}, paths: map[topology.NodeID][]resolve.Path{}}
	p.collector.begin()
	p.collector.answers.all(r, p.collector.picked)
	return p
}

// At lists the places of a node. A route rule has one also where no policy is in
// force, if traffic reaches it; so has every other node that traffic passes. A rule that hands over to other routes has none.
func (p *EffectiveTargets) At(id topology.NodeID) []EffectiveTarget {
	n := p.collector.res.Node(id)
	if n.Transit {
		return nil
	}
	met := nodePaths{places: p, at: map[string]int{}}
	for _, way := range p.traffic(id) {
		met.add(nil, 0, pathKey(way), pathInForce{nodes: way})
	}
	for _, k := range p.collector.picked {
		if !k.ReachesNode(n) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if !k.Empty(s) {
				p.addPaths(&met, k, id, s)
			}
		}
	}
	return met.list(id, n.Ref)
}

// addPaths adds the roads on which a stack of a kind comes to a node.
func (p *EffectiveTargets) addPaths(met *nodePaths, k *resolve.Kind, id topology.NodeID, s resolve.StackID) {
	ways := k.Paths(id, s)
	if k.Scope == nil {
		for _, way := range ways {
			met.add(k, s, pathKey(way), pathInForce{nodes: way})
		}
		return
	}
	for _, path := range p.collector.pathsOf(k, id, s, ways) {
		met.add(k, s, "\xff"+path.Key(), pathInForce{paths: []Path{path}})
	}
}

// traffic lists the ways from where traffic comes in down to a node, whatever any policy kind thinks of them.
func (p *EffectiveTargets) traffic(id topology.NodeID) []resolve.Path {
	if int(id) >= p.collector.res.Graph.Len() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.down(id)), func(way resolve.Path) bool {
		switch p.collector.res.Node(way[0]).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Frontend:
			return false
		}
		return true
	})
}

// down lists the ways from roots to a node. Those to what has much below it are kept.
func (p *EffectiveTargets) down(id topology.NodeID) []resolve.Path {
	if known, ok := p.paths[id]; ok {
		return known
	}
	g := p.collector.res.Graph
	var out []resolve.Path
	for _, parent := range g.Parents(topology.All, id) {
		for _, way := range p.down(parent) {
			out = append(out, append(way[:len(way):len(way)], id))
		}
	}
	if out == nil {
		out = []resolve.Path{{id}}
	}
	switch g.Node(id).Role {
	case topology.Rule, topology.Backend, topology.Port:
	default:
		p.paths[id] = out
	}
	return out
}

// inForce is what is in force with a stack.
func (p *EffectiveTargets) inForce(k *resolve.Kind, s resolve.StackID) *InForce {
	a := p.collector.answer(k, s)
	if p.shared[a] == nil {
		p.shared[a] = &InForce{Kind: k, Policy: a.policy, Problems: a.problems, number: len(p.shared)}
	}
	return p.shared[a]
}

// nodePaths gathers what is in force at one node, way by way.
type nodePaths struct {
	places *EffectiveTargets
	paths  []pathInForce
	at     map[string]int // the number of a road
}

// pathInForce is one way to a node, with what is in force at its end.
type pathInForce struct {
	nodes   resolve.Path
	paths   []Path // instead of a way, one: of a kind with scopes
	inForce []*InForce
}

// add notes a road, and with which stack of a kind it comes; no kind: that there is the road.
func (m *nodePaths) add(k *resolve.Kind, s resolve.StackID, key string, r pathInForce) {
	i, known := m.at[key]
	if !known {
		i = len(m.paths)
		m.at[key] = i
		m.paths = append(m.paths, r)
	}
	if k != nil {
		m.paths[i].inForce = append(m.paths[i].inForce, m.places.inForce(k, s))
	}
}

// list puts the roads with the same in force into one place each.
func (m *nodePaths) list(id topology.NodeID, target model.Ref) []EffectiveTarget {
	var out []EffectiveTarget
	var ways [][]resolve.Path
	known := map[string]int{}
	for _, r := range m.paths {
		var key []byte
		for _, f := range r.inForce {
			key = binary.AppendUvarint(key, uint64(f.number))
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
			out[i].Paths = inOrder(out[i].Paths)
		} else {
			out[i].Paths = m.places.collector.paths(ways[i])
		}
	}
	return out
}

// pathKey tells ways apart.
func pathKey(way resolve.Path) string {
	key := make([]byte, 0, 4*len(way))
	for _, id := range way {
		key = binary.AppendUvarint(key, uint64(id))
	}
	return string(key)
}

// Via says how traffic comes to a target on some paths: "Gateway infra/external (http, https)". It is "" where the paths say nothing that
// the target's own name does not.
func Via(paths []Path, target model.Ref) string {
	seen := make([]Path, len(paths))
	for i, p := range paths {
		seen[i] = p.seenFrom(target)
	}
	return viaText(inOrder(seen), target.WithoutSection(), TableOptions{})
}
