package view

import (
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Place is one effective target as traffic reaches it on some paths, with what is in force there.
type Place struct {
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

// Places are all places of an input. Not safe for concurrent use.
type Places struct {
	survey survey
	shared map[*answer]*InForce
	roads  map[topology.NodeID][]resolve.Path
}

// NewPlaces merges the policies of an input, all of them.
func NewPlaces(r *resolve.Resolution) *Places {
	p := &Places{survey: survey{res: r}, shared: map[*answer]*InForce{}, roads: map[topology.NodeID][]resolve.Path{}}
	p.survey.begin()
	p.survey.answerAll()
	return p
}

// At lists the places of a node. A route rule has one also where no policy is in
// force, if traffic reaches it; so has every other node that traffic passes. A rule that hands over to other routes has none.
func (p *Places) At(id topology.NodeID) []Place {
	n := p.survey.res.Node(id)
	if n.Transit {
		return nil
	}
	met := meeting{places: p, at: map[string]int{}}
	for _, way := range p.traffic(id) {
		met.add(nil, 0, wayKey(way), road{way: way})
	}
	for _, k := range p.survey.picked {
		if !k.ReachesNode(n) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if !k.Empty(s) {
				p.meet(&met, k, id, s)
			}
		}
	}
	return met.list(id, n.Ref)
}

// meet adds the roads on which a stack of a kind comes to a node.
func (p *Places) meet(met *meeting, k *resolve.Kind, id topology.NodeID, s resolve.StackID) {
	ways := k.Paths(id, s)
	if k.Scope == nil {
		for _, way := range ways {
			met.add(k, s, wayKey(way), road{way: way})
		}
		return
	}
	for _, path := range p.survey.waysOf(k, s, ways) {
		met.add(k, s, "\xff"+path.Key(), road{paths: []Path{path}})
	}
}

// traffic lists the ways from where traffic comes in down to a node, whatever any policy kind thinks of them.
func (p *Places) traffic(id topology.NodeID) []resolve.Path {
	if int(id) >= p.survey.res.Graph.Len() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.down(id)), func(way resolve.Path) bool {
		switch p.survey.res.Node(way[0]).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Frontend:
			return false
		}
		return true
	})
}

// down lists the ways from roots to a node. Those to what has much below it are kept.
func (p *Places) down(id topology.NodeID) []resolve.Path {
	if known, ok := p.roads[id]; ok {
		return known
	}
	g := p.survey.res.Graph
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
		p.roads[id] = out
	}
	return out
}

// inForce is what is in force with a stack.
func (p *Places) inForce(k *resolve.Kind, s resolve.StackID) *InForce {
	a := p.survey.answers[k][s]
	if a == nil { // no node of the kind's own has it
		o := k.Verdict(s)
		a = newAnswer(p.survey.res, k, o)
		p.survey.answers[k][s] = a
	}
	if p.shared[a] == nil {
		p.shared[a] = &InForce{Kind: k, Policy: a.policy, Problems: a.problems, number: len(p.shared)}
	}
	return p.shared[a]
}

// meeting gathers what is in force at one node, way by way.
type meeting struct {
	places *Places
	roads  []road
	at     map[string]int // the number of a road
}

// road is one way to a node, with what is in force at its end.
type road struct {
	way     resolve.Path
	paths   []Path // instead of a way, one: of a kind with scopes
	inForce []*InForce
}

// add notes a road, and with which stack of a kind it comes; no kind: that there is the road.
func (m *meeting) add(k *resolve.Kind, s resolve.StackID, key string, r road) {
	i, known := m.at[key]
	if !known {
		i = len(m.roads)
		m.at[key] = i
		m.roads = append(m.roads, r)
	}
	if k != nil {
		m.roads[i].inForce = append(m.roads[i].inForce, m.places.inForce(k, s))
	}
}

// list puts the roads with the same in force into one place each.
func (m *meeting) list(id topology.NodeID, target model.Ref) []Place {
	var out []Place
	var ways [][]resolve.Path
	known := map[string]int{}
	for _, r := range m.roads {
		var key []byte
		for _, f := range r.inForce {
			key = binary.AppendUvarint(key, uint64(f.number))
		}
		at, ok := known[string(key)]
		if !ok {
			at = len(out)
			known[string(key)] = at
			out, ways = append(out, Place{Node: id, Target: target, InForce: r.inForce}), append(ways, nil)
		}
		if r.way != nil {
			ways[at] = append(ways[at], r.way)
		}
		out[at].Paths = append(out[at].Paths, r.paths...)
	}
	for i := range out {
		if ways[i] == nil {
			out[i].Paths = inOrder(out[i].Paths)
		} else {
			out[i].Paths = m.places.survey.paths(ways[i])
		}
	}
	return out
}

// wayKey tells ways apart.
func wayKey(way resolve.Path) string {
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
	return viaText(inOrder(seen), target.Whole(), TableOptions{})
}
