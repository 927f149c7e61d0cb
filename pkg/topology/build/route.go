package build

import (
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// routeDraft is a route while it is being added.
type routeDraft struct {
	id     topology.NodeID
	object *model.Object
	kind   model.GroupKind
	spec   manifest.Fields

	hostnamesUnreadable bool // it has hostnames, but none that can be read
	gatewayBound        bool // a parentRef names something other than a Service
	meshBound           bool // all parentRefs name Services
	unresolved          reference.Unresolved
	missingPortReported bool // a backendRef without the port it needs was reported
	// of a kind that is read like another one: the kinds of parents that take it as they take those
	parentKinds []model.GroupKind
	refs        gatewayapi.RefReading // how its implementation reads what it refers to
}

const (
	maxRules        = 16
	maxRuleMatches  = 64  // of a rule
	maxRouteMatches = 128 // of all rules of an HTTPRoute
)

// routeBuilder adds the routes, and connects them to what is above and below them.
type routeBuilder struct {
	*draft
	parents  *routeAttacher
	backends *backendBuilder
	names    model.Set[string] // of the rules of the route at hand
}

// addRoutes adds routes, their rules, and the edges above and below them.
func (rs *routeBuilder) addRoutes() {
	for _, gk := range gatewayapi.SortedRouteKinds {
		for _, o := range rs.in.OfKind(gk) {
			rs.addRoute(o, gk, nil)
		}
	}
	for _, k := range rs.routeAliases {
		for _, o := range rs.in.OfKind(k.Kind) {
			rs.addRoute(o, k.Like, k.Parents)
		}
	}
}

// addRoute adds a route, which is read like those of a kind. If that is not its own, parents of
// some kinds alone take it.
func (rs *routeBuilder) addRoute(o *model.Object, kind model.GroupKind, takers []model.GroupKind) {
	r := routeDraft{id: rs.nodes.Add(topology.Node{Role: topology.Route, Ref: o.Ref, Object: o}), object: o,
		kind: kind, parentKinds: takers}
	rs.addToNamespace(o.Ref.Namespace, r.id)
	if r.spec = rs.ReadSpec(o); r.spec.Bad {
		return
	}
	rs.parents.attachRoute(&r)
	if r.refs = rs.parents.readingOf(&r); topology.IsJudged(rs.tables[r.id]) {
		r.refs.CoreNames = rs.parents.parentJudge.coreGroupNames
	}
	if !r.refs.IsStandard() {
		rs.readings[r.id] = r.refs
	}
	rs.addRules(&r)
	if r.unresolved != (reference.Unresolved{}) {
		rs.unresolved[r.id] = r.unresolved
	}
}

// addRules adds the rules of a route. An HTTPRoute without any has one that sends nowhere
// (gatewayapi G5), any other route has none.
func (rs *routeBuilder) addRules(r *routeDraft) {
	list, at := r.spec.ReadList("rules"), r.spec.At.AtField("rules")
	rs.limitRules(r, list.Len(), at)
	if list.Len() == 0 && r.kind == gatewayapi.HTTPRouteKind && (list.IsList() || !r.spec.HasField("rules")) {
		rs.addRule(r, defaultRuleName(0), 0)
		return
	}
	rs.names.Clear()
	matches := 0
	for i, v := range list.Items {
		f := rs.ReadEntry(v, at.AtEntry(i))
		if f.Bad {
			continue
		}
		rs.addRule(r, rs.ruleSection(f.ReadText("name"), i, f.At), i)
		n := 0
		if ms := f.Body.Field("matches"); ms.IsList() {
			n = ms.Len()
		}
		rs.CheckLimit(n, maxRuleMatches, f.At.AtField("matches"))
		matches += n
	}
	if r.kind == gatewayapi.HTTPRouteKind && matches > maxRouteMatches {
		rs.ReportInvalid(at, "the rules have "+manifest.FormatInt(matches)+
			" matches together; the API server takes at most "+manifest.FormatInt(maxRouteMatches))
	}
	id, end := rs.nodes.Node(r.id).PartRange()
	for i, v := range list.Items {
		if id == end || rs.nodes.Node(id).Index != i {
			continue // it has no node
		}
		rule := rs.ReadEntry(v, at.AtEntry(i))
		rs.backends.addBackends(r, id, &rule)
		id++
	}
}

// limitRules reports a number of rules that the API server does not take.
func (rs *routeBuilder) limitRules(r *routeDraft, n int, at manifest.Position) {
	switch r.kind {
	case gatewayapi.HTTPRouteKind, gatewayapi.GRPCRouteKind:
		rs.CheckLimit(n, maxRules, at)
	default:
		if n != 1 && !r.spec.Bad {
			rs.ReportInvalid(at, at.String()+" has "+manifest.FormatInt(n)+" entries; the API server takes exactly one")
		}
	}
}

func (rs *routeBuilder) addRule(r *routeDraft, section string, index int) {
	id := rs.nodes.AddPart(r.id, topology.Node{Role: topology.Rule, Ref: r.object.Ref.WithSection(section),
		Object: r.object, Index: index})
	rs.addEdge(r.id, id)
}

// ruleSection returns what the rule at position i is addressed by: its name, or rule-N if it has
// none or one that means an earlier rule (gatewayapi G3). rs.names holds the names of the earlier
// rules.
func (rs *routeBuilder) ruleSection(name string, i int, at manifest.Position) string {
	numbered := defaultRuleName(i)
	if name == "" {
		return numbered
	}
	p := model.Problem{Severity: model.Warning}
	twice := rs.names.Has(name)
	rs.names.Add(name)
	switch {
	case twice:
		p.Code = model.DuplicateRuleName
		p.Message = at.String() + " is called " + manifest.QuoteName(name) +
			" like an earlier rule; the name means that one"
		p.Hint = "this rule is " + numbered
		name = numbered
	case isDefaultRuleName(name) && name != numbered:
		p.Code = model.RuleNameCollision
		p.Message = at.String() + " is called " + manifest.QuoteName(name) + " but is " + numbered + "; the name wins"
		p.Hint = "give the rule another name"
	default:
		return name
	}
	rs.AddProblem(p, at.Object, at.FromRoot()...)
	return name
}

const defaultRulePrefix = "rule-"

// defaultRuleNames saves making the names that nearly all rules have.
var defaultRuleNames = [...]string{
	"rule-1", "rule-2", "rule-3", "rule-4", "rule-5", "rule-6", "rule-7", "rule-8",
	"rule-9", "rule-10", "rule-11", "rule-12", "rule-13", "rule-14", "rule-15", "rule-16",
}

// defaultRuleName returns rule-N for the rule at position i, which is counted from 0.
func defaultRuleName(i int) string {
	if i < len(defaultRuleNames) {
		return defaultRuleNames[i]
	}
	return defaultRulePrefix + manifest.FormatInt(i+1)
}

func isDefaultRuleName(name string) bool {
	n, ok := strings.CutPrefix(name, defaultRulePrefix)
	if !ok || n == "" || n[0] < '1' || n[0] > '9' {
		return false
	}
	_, err := strconv.Atoi(n)
	return err == nil
}
