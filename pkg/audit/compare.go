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

// outcome is a comparison on one route.
type outcome struct {
	verdict     Verdict
	want, found any
	why         string
	place       *dataplane.Place
	from        *expectation
}

// kindFields are the fields of one policy kind.
type kindFields struct {
	kind   model.GroupKind
	name   string
	fields []*Field
}

// byKind groups the fields of a mapping, in the order in which it has them.
func byKind(m *Mapping) []kindFields {
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

// compare holds all settings of a rule at one listener against its routes. Those that agree are told together, as there may be many.
func (s *single) compare(f *foundRule) {
	n := s.graph.Node(f.rule)
	path := s.path(f.listener)
	if s.replaced(f, n, path) {
		return
	}
	for i := range s.kinds {
		k := &s.kinds[i]
		if !s.asked(k.kind) {
			continue
		}
		es := at(s.expected[expectedKey{n.Ref, k.name}], path)
		if len(es) == 0 {
			es = nothingExpected
		}
		cases := s.cases(f, n, es)
		var agreed []string
		for _, field := range k.fields {
			o, routes := s.field(cases, field, es)
			switch {
			case o == nil:
			case o.verdict == Same:
				agreed = append(agreed, field.Setting)
			default:
				s.gather(s.item(n, path, field, o, routes), field.Setting)
			}
		}
		if len(agreed) > 0 {
			s.gather(Item{Verdict: Same, Target: &n.Ref, Paths: []view.Path{path}, PolicyKind: k.name, Settings: agreed, Policies: es[0].policies,
				Message: "the proxy does what is predicted"}, strings.Join(agreed, " "))
		}
	}
}

// nothingExpected is for rules on which no policy of a kind is in force.
var nothingExpected = []*expectation{{EffectivePolicy: &view.EffectivePolicy{}}}

// cases are the routes of a rule, each with every expectation.
func (s *single) cases(f *foundRule, n *topology.Node, es []*expectation) []Case {
	out := make([]Case, 0, len(f.places)*len(es))
	content := s.routes.Content(f.rule)
	for i := range f.places {
		for _, e := range es {
			out = append(out, Case{Place: &f.places[i], Graph: s.graph, ID: f.rule, Rule: n, Spec: e.spec, Policies: e.policies, Route: content})
		}
	}
	return out
}

func (s *single) asked(gk model.GroupKind) bool {
	return s.Kinds == nil || slices.Contains(s.Kinds, gk)
}

// replaced reports a rule in whose place the control plane put an answer of its own.
func (s *single) replaced(f *foundRule, n *topology.Node, path view.Path) bool {
	if s.mapping.Replaced == nil || !slices.ContainsFunc(f.places, func(p dataplane.Place) bool {
		return s.mapping.Replaced(&Case{Place: &p, Graph: s.graph, ID: f.rule, Rule: n, Route: s.routes.Content(f.rule)})
	}) {
		return false
	}
	item := Item{Verdict: Different, Target: &n.Ref, Paths: []view.Path{path}, Setting: "route", XDS: xdsOf(&f.places[0]), Compared: ByPresence,
		Message: "the control plane answers the rule with status 500 in its place"}
	if why := s.excused(n, f.rule); why != "" {
		item.Verdict, item.Message = Unjudged, why
	}
	s.add(item)
	return true
}

// excused says why a rule may rightly be answered with an error.
func (s *single) excused(n *topology.Node, rule topology.NodeID) string {
	if why, ok := s.doubtful[n.Ref.WithoutSection()]; ok {
		return why
	}
	backends := s.graph.Backends(rule)
	if len(backends) == 0 {
		return "the rule has no backends"
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
				if why, ok := s.doubtful[p]; ok {
					return why
				}
			}
		}
	}
	return ""
}

// field compares one setting on all routes of a rule, and names those that the outcome is about: they agree only if all do. nil: nothing is
// asked, and nothing done. Of a rule to which several chains of delegation lead it is not known by which one a route came to be: the
// expectation that agrees best counts.
func (s *single) field(cases []Case, field *Field, es []*expectation) (worst *outcome, routes []string) {
	for i := 0; i < len(cases); i += len(es) {
		var best *outcome
		for j, e := range es {
			o := s.one(&cases[i+j], field, e)
			if o == nil {
				best = nil
				break
			}
			if j == 0 || rank(o.verdict) > rank(best.verdict) {
				best = o
			}
		}
		if best == nil {
			continue
		}
		if worst == nil || rank(best.verdict) < rank(worst.verdict) {
			worst, routes = best, nil
		}
		if name := best.place.Route.Name; best.verdict == worst.verdict && worst.verdict != Same && name != "" && !slices.Contains(routes, name) {
			routes = append(routes, name)
		}
	}
	return worst, routes
}

func rank(v Verdict) int { return slices.Index(verdicts, v) }

// one compares one setting on one route; nil: nothing is asked, and nothing done.
func (s *single) one(c *Case, field *Field, e *expectation) *outcome {
	value := dig(e.spec, field.Setting)
	if field.How == NotCompared {
		if value == nil {
			return nil
		}
		return &outcome{verdict: Unjudged, why: field.Note, place: c.Place, from: e}
	}
	if value == nil && field.Silent {
		return nil // whatever the proxy does, it is not reported
	}
	c.doubt = ""
	o := &outcome{place: c.Place, from: e}
	if field.Want != nil {
		o.want = field.Want(c, value)
	} else if value != nil {
		o.want = true
	}
	o.found = field.Found(c)
	switch {
	case o.want == nil && (o.found == nil || field.Silent):
		if c.doubt == "" || value == nil {
			return nil
		}
		o.verdict, o.why = Unjudged, c.doubt
		return o
	case o.want == nil:
		o.verdict = Unexplained
	case o.found == nil:
		o.verdict = Missing
	case field.Same != nil && field.Same(o.want, o.found), field.Same == nil && reflect.DeepEqual(o.want, o.found):
		o.verdict = Same
	default:
		o.verdict = Different
	}
	if o.verdict.Differs() {
		s.judge(c, field, o)
	}
	return o
}

// judge takes back a difference that cannot be judged.
func (s *single) judge(c *Case, field *Field, o *outcome) {
	if c.doubt != "" {
		o.verdict, o.why = Unjudged, c.doubt
		return
	}
	if o.verdict != Unexplained && perBackend(c.Place) {
		o.verdict, o.why = Unjudged, "the route says something about filters for some of its backends alone"
		return
	}
	policies, builtin := o.from.sources(field.Setting)
	if o.verdict != Unexplained && builtin && len(policies) == 0 {
		o.verdict, o.why = Unjudged, "no policy says so, but the route or the implementation itself"
		return
	}
	for _, p := range o.from.policies {
		if why, ok := s.doubtful[p]; ok {
			o.verdict, o.why = Unjudged, why
			return
		}
	}
}

// perBackend tells whether a route configures filters for single backends, which wins over what it says for all.
func perBackend(p *dataplane.Place) bool {
	return slices.ContainsFunc(dataplane.List(p.Route.Config, "route", "weighted_clusters", "clusters"), func(cluster any) bool {
		return len(dataplane.Map(cluster, "typed_per_filter_config")) > 0
	})
}

// dig is the value at a dotted path of a spec.
func dig(spec map[string]any, dotted string) any {
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
