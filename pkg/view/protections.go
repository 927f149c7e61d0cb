package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
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

// RuleProtectionList says what requests to route rules are protected by.
type RuleProtectionList struct {
	Items []RuleProtection `json:"items"` // of the rules that get traffic, by their names
}

// RuleProtection says what requests to a route rule are protected by on some paths.
type RuleProtection struct {
	Rule       model.Ref   `json:"rule"`       // a rule of a route
	Paths      []Path      `json:"paths"`      // to it, on which it is so
	Protection *Protection `json:"protection"` // whether each property of requests holds
}

// ProtectionOfRules says what requests to rules are protected by. Those of namespaces that in does not want are left out.
func ProtectionOfRules(r *resolve.Resolution, m *request.Matcher, judges Judges, in func(namespace string) bool) (*RuleProtectionList, error) {
	all, err := NewProtections(r, m, judges, nil)
	if err != nil {
		return nil, err
	}
	out := &RuleProtectionList{Items: []RuleProtection{}}
	for _, id := range r.Graph.Order(topology.All) {
		if n := r.Node(id); n.Role == topology.Rule && !n.Transit && (in == nil || in(n.Ref.Namespace)) {
			out.Items = append(out.Items, all.rule(id)...)
		}
	}
	slices.SortStableFunc(out.Items, func(a, b RuleProtection) int { return compareTargets(a.Rule, b.Rule) })
	return out, nil
}

// rule says what is so of one rule, paths with the same together.
func (p *Protections) rule(id topology.NodeID) []RuleProtection {
	var out []RuleProtection
	var ways [][]resolve.Path
	for _, way := range p.protector.ways.traffic(id) {
		one := p.protector.of(id, way)
		at := slices.IndexFunc(out, func(o RuleProtection) bool { return o.Protection == one })
		if at < 0 {
			at = len(out)
			out, ways = append(out, RuleProtection{Rule: p.protector.res.Node(id).Ref, Protection: one}), append(ways, nil)
		}
		ways[at] = append(ways[at], way)
	}
	for i := range out {
		out[i].Paths = p.protector.ways.collector.paths(ways[i])
	}
	return out
}
