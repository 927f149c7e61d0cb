package audit

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// comparison is what a comparison on one route came to.
type comparison struct {
	verdict     Verdict
	want, found any
	reason      string
	route       *dataplane.ServedRoute
	expectation *expectation
}

// kindFields are the fields of one policy kind.
type kindFields struct {
	kind   model.GroupKind
	name   string
	fields []*Field
}

// groupByKind groups the fields of a mapping, in the order in which it has them.
func groupByKind(m *Mapping) []kindFields {
	var out []kindFields
	for i := range m.Fields {
		f := &m.Fields[i]
		at := slices.IndexFunc(out, func(k kindFields) bool { return k.kind == f.Kind })
		if at < 0 {
			at = len(out)
			out = append(out, kindFields{kind: f.Kind, name: f.Kind.String()})
		}
		out[at].fields = append(out[at].fields, f)
	}
	return out
}

// compareRule holds all settings of a rule at one listener against its routes. Those that agree are
// told together, as there may be many.
func (s *proxyAuditor) compareRule(f *foundRule) {
	n := s.graph.Node(f.rule)
	path := s.pathThrough(f.listener)
	if s.reportReplaced(f, n, path) {
		return
	}
	for i := range s.kinds {
		k := &s.kinds[i]
		if !s.isKindAsked(k.kind) {
			continue
		}
		es := expectedOnPath(s.expected[expectedKey{n.Ref, k.name}], path)
		if len(es) == 0 {
			es = nothingExpected
		}
		cases := s.newCases(f, n, es)
		var agreed []string
		for _, field := range k.fields {
			o, routes := s.compareSetting(cases, field, es)
			switch {
			case o == nil:
			case o.verdict == Same:
				agreed = append(agreed, field.Setting)
			default:
				s.mergeItem(s.newItem(n, path, field, o, routes), field.Setting)
			}
		}
		if len(agreed) > 0 {
			s.mergeItem(Item{Verdict: Same, Target: &n.Ref, Paths: []view.Path{path}, PolicyKind: k.name,
				Settings: agreed, Policies: es[0].policies,
				Message: "the proxy does what is predicted"}, strings.Join(agreed, " "))
		}
	}
}

// nothingExpected is for rules on which no policy of a kind is in force.
var nothingExpected = []*expectation{{EffectivePolicy: &view.EffectivePolicy{}}}

// newCases returns the routes of a rule, each with every expectation.
func (s *proxyAuditor) newCases(f *foundRule, n *topology.Node, es []*expectation) []Case {
	out := make([]Case, 0, len(f.routes)*len(es))
	content := s.routes.RuleContent(f.rule)
	for i := range f.routes {
		for _, e := range es {
			out = append(out, Case{ServedRoute: &f.routes[i], Graph: s.graph, ID: f.rule, Rule: n, Spec: e.spec,
				Policies: e.policies, RuleContent: content})
		}
	}
	return out
}

func (s *proxyAuditor) isKindAsked(gk model.GroupKind) bool {
	return s.Kinds == nil || slices.Contains(s.Kinds, gk)
}

// reportReplaced reports a rule in whose place the control plane put an answer of its own, and
// whether it is one.
func (s *proxyAuditor) reportReplaced(f *foundRule, n *topology.Node, path view.Path) bool {
	if s.mapping.IsReplaced == nil || !slices.ContainsFunc(f.routes, func(p dataplane.ServedRoute) bool {
		return s.mapping.IsReplaced(&Case{ServedRoute: &p, Graph: s.graph, ID: f.rule, Rule: n,
			RuleContent: s.routes.RuleContent(f.rule)})
	}) {
		return false
	}
	item := Item{Verdict: Different, Target: &n.Ref, Paths: []view.Path{path}, Setting: "route",
		XDS: newXDS(&f.routes[0]), Compared: ByPresence,
		Message: "the control plane answers the rule with status 500 in its place"}
	if why := s.findExcuse(n, f.rule); why != "" {
		item.Verdict, item.Message = NotJudged, why
	}
	s.addItem(item)
	return true
}

// findExcuse says why a rule may rightly be answered with an error.
func (s *proxyAuditor) findExcuse(n *topology.Node, rule topology.NodeID) string {
	if why, ok := s.uncertain[n.Ref.WithoutSection()]; ok {
		return why
	}
	backends := s.graph.BackendRefs(rule)
	if len(backends) == 0 {
		return "the rule has no backends"
	}
	if !slices.ContainsFunc(backends, func(b topology.BackendRef) bool { return b.Weight > 0 }) {
		return "the rule sends to none of its backends: each has weight 0"
	}
	for _, b := range backends {
		if b.Reason != "" || b.Unknown || b.Assumed {
			return "the rule has a backend that cannot be used, or that is not in the input: " + b.Ref.String()
		}
	}
	for key, es := range s.expected {
		if key.target != n.Ref {
			continue
		}
		for _, e := range es {
			for _, p := range e.policies {
				if why, ok := s.uncertain[p]; ok {
					return why
				}
			}
		}
	}
	return ""
}

// compareSetting compares one setting on all routes of a rule, and names those that the result is
// about: they agree only if all do. nil: nothing is asked, and nothing done. Of a rule to which
// several chains of delegation lead it is not known by which one a route came to be: the
// expectation that agrees best counts.
func (s *proxyAuditor) compareSetting(cases []Case, field *Field, es []*expectation) (worst *comparison,
	routes []string) {
	for i := 0; i < len(cases); i += len(es) {
		var best *comparison
		for j, e := range es {
			o := s.compareOnRoute(&cases[i+j], field, e)
			if o == nil {
				best = nil
				break
			}
			if j == 0 || verdictRank(o.verdict) > verdictRank(best.verdict) {
				best = o
			}
		}
		if best == nil {
			continue
		}
		if worst == nil || verdictRank(best.verdict) < verdictRank(worst.verdict) {
			worst, routes = best, nil
		}
		if name := best.route.Route.Name; best.verdict == worst.verdict && worst.verdict != Same && name != "" &&
			!slices.Contains(routes, name) {
			routes = append(routes, name)
		}
	}
	return worst, routes
}

func verdictRank(v Verdict) int { return slices.Index(verdictOrder, v) }

// compareOnRoute compares one setting on one route; nil: nothing is asked, and nothing done.
func (s *proxyAuditor) compareOnRoute(c *Case, field *Field, e *expectation) *comparison {
	value := valueAt(e.spec, field.Setting)
	if field.How == NotCompared {
		if value == nil {
			return nil
		}
		return &comparison{verdict: NotJudged, reason: field.Note, route: c.ServedRoute, expectation: e}
	}
	if value == nil && field.IgnoreUnasked {
		return nil // whatever the proxy does, it is not reported
	}
	c.uncertainty = ""
	o := &comparison{route: c.ServedRoute, expectation: e}
	if field.Want != nil {
		o.want = field.Want(c, value)
	} else if value != nil {
		o.want = true
	}
	o.found = field.Found(c)
	switch {
	case o.want == nil && (o.found == nil || field.IgnoreUnasked):
		if c.uncertainty == "" || value == nil {
			return nil
		}
		o.verdict, o.reason = NotJudged, c.uncertainty
		return o
	case o.want == nil:
		o.verdict = Unexplained
	case o.found == nil:
		o.verdict = Missing
	case field.Equal != nil && field.Equal(o.want, o.found), field.Equal == nil && reflect.DeepEqual(o.want, o.found):
		o.verdict = Same
	default:
		o.verdict = Different
	}
	if o.verdict.IsDifference() {
		s.withdrawUncertain(c, field, o)
	}
	return o
}

// withdrawUncertain takes back a difference that cannot be judged.
func (s *proxyAuditor) withdrawUncertain(c *Case, field *Field, o *comparison) {
	if c.uncertainty != "" {
		o.verdict, o.reason = NotJudged, c.uncertainty
		return
	}
	if o.verdict != Unexplained && hasBackendFilters(c.ServedRoute) {
		o.verdict, o.reason = NotJudged, "the route says something about filters for some of its backends alone"
		return
	}
	policies, builtin := o.expectation.settingSources(field.Setting)
	if o.verdict != Unexplained && builtin && len(policies) == 0 {
		o.verdict, o.reason = NotJudged, "no policy says so, but the route or the implementation itself"
		return
	}
	for _, p := range o.expectation.policies {
		if why, ok := s.uncertain[p]; ok {
			o.verdict, o.reason = NotJudged, why
			return
		}
	}
}

// hasBackendFilters reports whether a route configures filters for single backends, which wins over
// what it says for all.
func hasBackendFilters(p *dataplane.ServedRoute) bool {
	return slices.ContainsFunc(dataplane.List(p.Route.Config, "route", "weighted_clusters", "clusters"),
		func(cluster any) bool {
			return len(dataplane.Map(cluster, "typed_per_filter_config")) > 0
		})
}

// valueAt returns the value at a dotted path of a spec.
func valueAt(spec map[string]any, dotted string) any {
	var v any = spec
	for len(dotted) > 0 {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		key := dotted
		dotted = ""
		for i := 0; i < len(key); i++ {
			if key[i] == '.' {
				key, dotted = key[:i], key[i+1:]
				break
			}
		}
		v = m[key]
	}
	return v
}
