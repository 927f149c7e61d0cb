package topology

import (
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// route is a route while it is being added.
type route struct {
	id     NodeID
	object *model.Object
	kind   model.GroupKind
	spec   fields

	hostless     bool // it has hostnames, but none that can be read
	gatewayBound bool // a parentRef names something other than a Service
	meshBound    bool // all parentRefs name Services
	unresolved   Unresolved
	portless     bool              // a backendRef without the port it needs was reported
	takers       []model.GroupKind // of a kind that is read like another one: the kinds of parents that take it as they take those
	core         []string          // how its implementation calls the group that has no name
}

const (
	mostRules   = 16
	mostMatches = 64  // of a rule
	mostInRoute = 128 // of all rules of an HTTPRoute
)

// routes adds the routes, and ties them to what is above and below them.
type routes struct {
	*draft
	parents  *tableWriter
	backends *backends
	names    model.Set[string] // of the rules of the route at hand
}

// addRoutes adds routes, their rules, and the edges above and below them.
func (rs *routes) addRoutes() {
	for _, gk := range routeKinds {
		for _, o := range rs.in.Of(gk) {
			rs.addRoute(o, gk, nil)
		}
	}
	for _, k := range rs.alike {
		for _, o := range rs.in.Of(k.kind) {
			rs.addRoute(o, k.like, k.parents)
		}
	}
}

// addRoute adds a route, which is read like those of a kind. If that is not its own, parents of some kinds alone take it.
func (rs *routes) addRoute(o *model.Object, kind model.GroupKind, takers []model.GroupKind) {
	r := route{id: rs.add(Node{Role: Route, Ref: o.Ref, Object: o, table: int32(len(rs.tables))}), object: o, kind: kind, takers: takers}
	rs.tables = append(rs.tables, nil)
	rs.under(o.Ref.Namespace, r.id)
	if r.spec = rs.spec(o); r.spec.bad {
		return
	}
	rs.parents.attach(&r)
	if judged(rs.tables[rs.nodes[r.id].table]) {
		r.core = rs.parents.decides.core
	}
	rs.addRules(&r)
	if r.unresolved != (Unresolved{}) {
		rs.unresolved[r.id] = r.unresolved
	}
}

// addRules adds the rules of a route. An HTTPRoute without any has one that sends nowhere (gatewayapi G5), any other route has none.
func (rs *routes) addRules(r *route) {
	list, at := r.spec.list("rules"), r.spec.at.field("rules")
	rs.limitRules(r, list.Len(), at)
	if list.Len() == 0 && r.kind == httpRouteKind && (list.IsList() || !r.spec.has("rules")) {
		rs.addRule(r, defaultRuleName(0), 0)
		return
	}
	rs.names.Clear()
	matches := 0
	for i, v := range list.Items {
		f := rs.entry(v, at.entry(i))
		if f.bad {
			continue
		}
		rs.addRule(r, rs.section(f.text("name"), i, f.at), i)
		n := 0
		if ms := f.m.Field("matches"); ms.IsList() {
			n = ms.Len()
		}
		rs.limit(n, mostMatches, f.at.field("matches"))
		matches += n
	}
	if r.kind == httpRouteKind && matches > mostInRoute {
		rs.invalid(at, "the rules have "+itoa(matches)+" matches together; the API server takes at most "+itoa(mostInRoute))
	}
	parts := rs.nodes[r.id].parts
	id := parts.first
	for i, v := range list.Items {
		if id == parts.end() || rs.nodes[id].Index != i {
			continue // it has no node
		}
		rule := rs.entry(v, at.entry(i))
		rs.backends.addBackends(r, id, &rule)
		id++
	}
}

// limitRules reports a number of rules that the API server does not take (gatewayapi §1, §8).
func (rs *routes) limitRules(r *route, n int, at fieldPosition) {
	switch r.kind {
	case httpRouteKind, grpcRouteKind:
		rs.limit(n, mostRules, at)
	default:
		if n != 1 && !r.spec.bad {
			rs.invalid(at, at.String()+" has "+itoa(n)+" entries; the API server takes exactly one")
		}
	}
}

func (rs *routes) addRule(r *route, section string, index int) {
	id := rs.addPart(r.id, Node{Role: Rule, Ref: r.object.Ref.In(section), Object: r.object, Index: index})
	rs.connect(r.id, id)
}

// section is what the rule at position i is addressed by: its name, or rule-N if it has none or one that means an earlier rule
// (gatewayapi G3). rs.names holds the names of the earlier rules.
func (rs *routes) section(name string, i int, at fieldPosition) string {
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
		p.Message = at.String() + " is called " + quote(name) + " like an earlier rule; the name means that one"
		p.Hint = "this rule is " + numbered
		name = numbered
	case isDefaultRuleName(name) && name != numbered:
		p.Code = model.RuleNameCollision
		p.Message = at.String() + " is called " + quote(name) + " but is " + numbered + "; the name wins"
		p.Hint = "give the rule another name"
	default:
		return name
	}
	rs.problem(p, at.object, at.path()...)
	return name
}

const placePrefix = "rule-"

// firstPlaces saves making the names that nearly all rules have.
var firstPlaces = [...]string{
	"rule-1", "rule-2", "rule-3", "rule-4", "rule-5", "rule-6", "rule-7", "rule-8",
	"rule-9", "rule-10", "rule-11", "rule-12", "rule-13", "rule-14", "rule-15", "rule-16",
}

// defaultRuleName is rule-N for the rule at position i, which is counted from 0.
func defaultRuleName(i int) string {
	if i < len(firstPlaces) {
		return firstPlaces[i]
	}
	return placePrefix + itoa(i+1)
}

func isDefaultRuleName(name string) bool {
	n, ok := strings.CutPrefix(name, placePrefix)
	if !ok || n == "" || n[0] < '1' || n[0] > '9' {
		return false
	}
	_, err := strconv.Atoi(n)
	return err == nil
}
