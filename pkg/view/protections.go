package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Protections tell what requests to route rules are protected by, on each path to them. Not safe for concurrent use.
type Protections struct {
	protector *protector
	asked     []RequestProperty
	known     map[topology.NodeID]map[string]*Protection // by the key of the path
}

// NewProtections judges an input. asked are properties with methods, which are asked about beside those of the vocabulary.
func NewProtections(r *resolve.Resolution, m *request.Matcher, judges Judges, asked []RequestProperty) (*Protections, error) {
	p := &Protections{protector: newProtector(r, m, judges), asked: asked, known: map[topology.NodeID]map[string]*Protection{}}
	p.protector.asked = asked
	p.protector.ways.collector.begin()
	var rules []topology.NodeID
	for _, id := range r.Graph.Order(topology.All) {
		if r.Node(id).Role == topology.Rule {
			rules = append(rules, id)
		}
	}
	return p, p.protector.split(rules)
}

// On is what requests are protected by that come to a route rule on a path; nil for anything else, and for paths that are not known. The same is said by the
// same pointer.
func (p *Protections) On(id topology.NodeID, path Path) *Protection {
	if int(id) >= p.protector.res.Graph.Len() || p.protector.res.Node(id).Role != topology.Rule {
		return nil
	}
	known := p.known[id]
	if known == nil {
		known = map[string]*Protection{}
		for _, way := range p.protector.ways.traffic(id) {
			one := p.protector.of(id, way)
			for _, path := range p.protector.ways.collector.paths([]resolve.Path{way}) {
				key := path.Key()
				if other := known[key]; other != nil && other != one {
					one = p.worst(other, one)
				}
				known[key] = one
			}
		}
		p.known[id] = known
	}
	return known[path.Key()]
}

// worst is what holds on two ways together.
func (p *Protections) worst(a, b *Protection) *Protection {
	out := &Protection{asked: make([]protect.Result, len(p.asked))}
	for _, property := range gate.Properties() {
		*out.Of(property) = protect.Worst(*a.Of(property), *b.Of(property))
	}
	for i := range p.asked {
		out.asked[i] = protect.Worst(a.asked[i], b.asked[i])
	}
	return p.protector.share(out)
}

// Asked is what is said of the property that was asked about at a position.
func (p *Protection) Asked(i int) *protect.Result { return &p.asked[i] }
