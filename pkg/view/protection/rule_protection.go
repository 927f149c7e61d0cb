package protection

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Protections tells what protects the requests to route rules, on each path to them. It is not safe
// for concurrent use.
type Protections struct {
	protector *Protector
	collector *collect.Collector
	asked     []requests.Property
	known     map[topology.NodeID]map[string]*Protection // by the key of the path
}

// NewProtections judges an input. asked are properties with methods that are judged beside those of
// the vocabulary.
func NewProtections(r *resolve.Resolution, m *request.Matcher, judges view.Judges,
	asked []requests.Property) (*Protections, error) {
	p := &Protections{protector: NewProtector(r, m, judges, asked), collector: collect.New(r, view.Query{}),
		asked: asked, known: map[topology.NodeID]map[string]*Protection{}}
	var rules []topology.NodeID
	for _, id := range r.Graph.Order(topology.All) {
		if r.Node(id).Role == topology.Rule {
			rules = append(rules, id)
		}
	}
	return p, p.protector.JudgeClasses(rules)
}

// FindProtection returns what protects the requests that come to a route rule on a path; nil for
// other nodes and for unknown paths. Equal answers are the same pointer.
func (p *Protections) FindProtection(id topology.NodeID, path view.Path) *Protection {
	if int(id) >= p.protector.res.Graph.Len() || p.protector.res.Node(id).Role != topology.Rule {
		return nil
	}
	known := p.known[id]
	if known == nil {
		known = map[string]*Protection{}
		for _, way := range p.protector.paths.To(id) {
			one := p.protector.FindProtection(id, way)
			for _, path := range p.collector.ConvertPaths([]resolve.Path{way}) {
				key := path.Key()
				switch other := known[key]; {
				case other == nil:
					known[key] = one
				case other != one:
					known[key] = p.combineProtections(other, one)
				}
			}
		}
		p.known[id] = known
	}
	return known[path.Key()]
}

// combineProtections returns what holds on two paths together.
func (p *Protections) combineProtections(a, b *Protection) *Protection {
	out := &Protection{askedResults: make([]protect.Result, len(p.asked))}
	for _, property := range gate.Properties() {
		*out.ResultOf(property) = protect.WorstOf(*a.ResultOf(property), *b.ResultOf(property))
	}
	for i := range p.asked {
		out.askedResults[i] = protect.WorstOf(a.askedResults[i], b.askedResults[i])
	}
	return p.protector.shareProtection(out)
}

// AskedResult returns what is said of the property that was asked about at a position.
func (p *Protection) AskedResult(i int) *protect.Result { return &p.askedResults[i] }

// RuleProtectionList says what requests to route rules are protected by.
type RuleProtectionList struct {
	Items []RuleProtection `json:"items"` // of the rules that get traffic, by their names
}

// RuleProtection says what requests to a route rule are protected by on some paths.
type RuleProtection struct {
	Rule       model.Ref   `json:"rule"`       // a rule of a route
	Paths      []view.Path `json:"paths"`      // to it, on which it is so
	Protection *Protection `json:"protection"` // whether each property of requests holds
}

// ProtectionOfRules says what protects the requests to rules. Rules of namespaces for which in is
// false are left out.
func ProtectionOfRules(r *resolve.Resolution, m *request.Matcher, judges view.Judges,
	in func(namespace string) bool) (*RuleProtectionList, error) {
	all, err := NewProtections(r, m, judges, nil)
	if err != nil {
		return nil, err
	}
	out := &RuleProtectionList{Items: []RuleProtection{}}
	for _, id := range r.Graph.Order(topology.All) {
		if n := r.Node(id); n.Role == topology.Rule && !n.Delegates && (in == nil || in(n.Ref.Namespace)) {
			out.Items = append(out.Items, all.groupRulePaths(id)...)
		}
	}
	slices.SortStableFunc(out.Items, func(a, b RuleProtection) int { return view.CompareTargets(a.Rule, b.Rule) })
	return out, nil
}

// groupRulePaths returns the protection of one rule, with the paths that share it.
func (p *Protections) groupRulePaths(id topology.NodeID) []RuleProtection {
	var out []RuleProtection
	var ways [][]resolve.Path
	for _, way := range p.protector.paths.To(id) {
		one := p.protector.FindProtection(id, way)
		at := slices.IndexFunc(out, func(o RuleProtection) bool { return o.Protection == one })
		if at < 0 {
			at = len(out)
			out, ways = append(out, RuleProtection{Rule: p.protector.res.Node(id).Ref, Protection: one}), append(ways,
				nil)
		}
		ways[at] = append(ways[at], way)
	}
	for i := range out {
		out[i].Paths = p.collector.ConvertPaths(ways[i])
	}
	return out
}
