package topology

import (
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// routeDraft is a route while it is being added.
type routeDraft struct {
	id     NodeID
	object *model.Object
	kind   model.GroupKind
	spec   fieldReader

	hostnamesUnreadable bool // it has hostnames, but none that can be read
	gatewayBound        bool // a parentRef names something other than a Service
	meshBound           bool // all parentRefs name Services
	unresolved          Unresolved
	missingPortReported bool              // a backendRef without the port it needs was reported
	parentKinds         []model.GroupKind // of a kind that is read like another one: the kinds of parents that take it as they take those
	coreGroupNames      []string          // how its implementation calls the group that has no name
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
	for _, gk := range routeKinds {
		for _, o := range rs.in.OfKind(gk) {
			rs.addRoute(o, gk, nil)
		}
	}
	for _, k := range rs.routeAliases {
		for _, o := range rs.in.OfKind(k.kind) {
			rs.addRoute(o, k.like, k.parents)
		}
	}
}

// addRoute adds a route, which is read like those of a kind. If that is not its own, parents of some kinds alone take it.
func (rs *routeBuilder) addRoute(o *model.Object, kind model.GroupKind, takers []model.GroupKind) {
	r := routeDraft{id: rs.addNode(Node{Role: Route, Ref: o.Ref, Object: o, table: int32(len(rs.tables))}), object: o, kind: kind, parentKinds: takers}
	rs.tables = append(rs.tables, nil)
	rs.addToNamespace(o.Ref.Namespace, r.id)
	if r.spec = rs.readSpec(o); r.spec.bad {
		return
	}
	rs.parents.attachRoute(&r)
	if isJudged(rs.tables[rs.nodes[r.id].table]) {
		r.coreGroupNames = rs.parents.parentJudge.coreGroupNames
	}
	rs.addRules(&r)
	if r.unresolved != (Unresolved{}) {
		rs.unresolved[r.id] = r.unresolved
	}
}

// addRules adds the rules of a route. An HTTPRoute without any has one that sends nowhere (gatewayapi G5), any other route has none.
func (rs *routeBuilder) addRules(r *routeDraft) {
	list, at := r.spec.readList("rules"), r.spec.at.atField("rules")
	rs.limitRules(r, list.Len(), at)
	if list.Len() == 0 && r.kind == httpRouteKind && (list.IsList() || !r.spec.hasField("rules")) {
		rs.addRule(r, defaultRuleName(0), 0)
		return
	}
	rs.names.Clear()
	matches := 0
	for i, v := range list.Items {
		f := rs.readEntry(v, at.atEntry(i))
		if f.bad {
			continue
		}
		rs.addRule(r, rs.ruleSection(f.readText("name"), i, f.at), i)
		n := 0
		if ms := f.body.Field("matches"); ms.IsList() {
			n = ms.Len()
		}
		rs.checkLimit(n, maxRuleMatches, f.at.atField("matches"))
		matches += n
	}
	if r.kind == httpRouteKind && matches > maxRouteMatches {
		rs.reportInvalid(at, "the rules have "+formatInt(matches)+" matches together; the API server takes at most "+formatInt(maxRouteMatches))
	}
	parts := rs.nodes[r.id].parts
	id := parts.first
	for i, v := range list.Items {
		if id == parts.endNode() || rs.nodes[id].Index != i {
			continue // it has no node
		}
		rule := rs.readEntry(v, at.atEntry(i))
		rs.backends.addBackends(r, id, &rule)
		id++
	}
}

// limitRules reports a number of rules that the API server does not take.
func (rs *routeBuilder) limitRules(r *routeDraft, n int, at fieldPosition) {
	switch r.kind {
	case httpRouteKind, grpcRouteKind:
		rs.checkLimit(n, maxRules, at)
	default:
		if n != 1 && !r.spec.bad {
			rs.reportInvalid(at, at.String()+" has "+formatInt(n)+" entries; the API server takes exactly one")
		}
	}
}

func (rs *routeBuilder) addRule(r *routeDraft, section string, index int) {
	id := rs.addPart(r.id, Node{Role: Rule, Ref: r.object.Ref.WithSection(section), Object: r.object, Index: index})
	rs.addEdge(r.id, id)
}

// ruleSection returns what the rule at position i is addressed by: its name, or rule-N if it has
// none or one that means an earlier rule (gatewayapi G3). rs.names holds the names of the earlier
// rules.
func (rs *routeBuilder) ruleSection(name string, i int, at fieldPosition) string {
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
		p.Message = at.String() + " is called " + quoteName(name) + " like an earlier rule; the name means that one"
		p.Hint = "this rule is " + numbered
		name = numbered
	case isDefaultRuleName(name) && name != numbered:
		p.Code = model.RuleNameCollision
		p.Message = at.String() + " is called " + quoteName(name) + " but is " + numbered + "; the name wins"
		p.Hint = "give the rule another name"
	default:
		return name
	}
	rs.addProblem(p, at.object, at.fromRoot()...)
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
	return defaultRulePrefix + formatInt(i+1)
}

func isDefaultRuleName(name string) bool {
	n, ok := strings.CutPrefix(name, defaultRulePrefix)
	if !ok || n == "" || n[0] < '1' || n[0] > '9' {
		return false
	}
	_, err := strconv.Atoi(n)
	return err == nil
}
