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
	portless     bool // a backendRef without the port it needs was reported
}

const (
	mostRules   = 16
	mostMatches = 64  // of a rule
	mostInRoute = 128 // of all rules of an HTTPRoute
)

// addRoutes adds routes, their rules, and the edges above and below them.
func (b *builder) addRoutes() {
	for _, gk := range routeKinds {
		for _, o := range b.in.Of(gk) {
			r := route{id: b.add(Node{Role: Route, Ref: o.Ref, Object: o, table: int32(len(b.tables))}), object: o, kind: gk}
			b.tables = append(b.tables, nil)
			b.under(o.Ref.Namespace, r.id)
			if r.spec = b.spec(o); r.spec.bad {
				continue
			}
			b.attach(&r)
			b.addRules(&r)
			if r.unresolved != (Unresolved{}) {
				b.unresolved[r.id] = r.unresolved
			}
		}
	}
}

// addRules adds the rules of a route. An HTTPRoute without any has one that sends nowhere (gatewayapi G5), any other route has none.
func (b *builder) addRules(r *route) {
	list, at := r.spec.list("rules"), r.spec.at.field("rules")
	b.limitRules(r, list.Len(), at)
	if list.Len() == 0 && r.kind == httpRouteKind && (list.IsList() || !r.spec.has("rules")) {
		b.addRule(r, rulePlace(0), 0)
		return
	}
	reset(&b.names)
	matches := 0
	for i, v := range list.Items {
		f := b.entry(v, at.entry(i))
		if f.bad {
			continue
		}
		b.addRule(r, b.section(f.text("name"), i, f.at), i)
		n := 0
		if ms := f.m.Field("matches"); ms.IsList() {
			n = ms.Len()
		}
		b.limit(n, mostMatches, f.at.field("matches"))
		matches += n
	}
	if r.kind == httpRouteKind && matches > mostInRoute {
		b.invalid(at, "the rules have "+itoa(matches)+" matches together; the API server takes at most "+itoa(mostInRoute))
	}
	parts := b.nodes[r.id].parts
	id := parts.first
	for i, v := range list.Items {
		if id == parts.first+NodeID(parts.n) || b.nodes[id].Index != i {
			continue // it has no node
		}
		rule := b.entry(v, at.entry(i))
		b.addBackends(r, id, &rule)
		id++
	}
}

// limitRules reports a number of rules that the API server does not take (gatewayapi §1, §8).
func (b *builder) limitRules(r *route, n int, at place) {
	switch r.kind {
	case httpRouteKind, grpcRouteKind:
		b.limit(n, mostRules, at)
	default:
		if n != 1 && !r.spec.bad {
			b.invalid(at, at.String()+" has "+itoa(n)+" entries; the API server takes exactly one")
		}
	}
}

func (b *builder) addRule(r *route, section string, index int) {
	id := b.addPart(r.id, Node{Role: Rule, Ref: r.object.Ref.In(section), Object: r.object, Index: index})
	b.connect(r.id, id)
}

// section is what the rule at position i is addressed by: its name, or rule-N if it has none or one that means an earlier rule
// (gatewayapi G3). b.names holds the names of the earlier rules.
func (b *builder) section(name string, i int, at place) string {
	numbered := rulePlace(i)
	if name == "" {
		return numbered
	}
	p := model.Problem{Severity: model.Warning}
	_, twice := b.names[name]
	b.names[name] = struct{}{}
	switch {
	case twice:
		p.Code = model.DuplicateRuleName
		p.Message = at.String() + " is called " + quote(name) + " like an earlier rule; the name means that one"
		p.Hint = "this rule is " + numbered
		name = numbered
	case isRulePlace(name) && name != numbered:
		p.Code = model.RuleNameCollision
		p.Message = at.String() + " is called " + quote(name) + " but is " + numbered + "; the name wins"
		p.Hint = "give the rule another name"
	default:
		return name
	}
	b.problem(p, at.object, at.path()...)
	return name
}

const placePrefix = "rule-"

// firstPlaces saves making the names that nearly all rules have.
var firstPlaces = [...]string{
	"rule-1", "rule-2", "rule-3", "rule-4", "rule-5", "rule-6", "rule-7", "rule-8",
	"rule-9", "rule-10", "rule-11", "rule-12", "rule-13", "rule-14", "rule-15", "rule-16",
}

// rulePlace is rule-N for the rule at position i, which is counted from 0.
func rulePlace(i int) string {
	if i < len(firstPlaces) {
		return firstPlaces[i]
	}
	return placePrefix + itoa(i+1)
}

func isRulePlace(name string) bool {
	n, ok := strings.CutPrefix(name, placePrefix)
	if !ok || n == "" || n[0] < '1' || n[0] > '9' {
		return false
	}
	_, err := strconv.Atoi(n)
	return err == nil
}
