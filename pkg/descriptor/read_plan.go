package descriptor

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// foldReader reads how the policies of a path become one result.
type foldReader struct {
	reader
	facts policy.Facts // of the plan being read
}

func (r *foldReader) fieldReaders() map[string]form.Field {
	return map[string]form.Field{"resolve": r.readPlans, "scopes": r.readScopes,
		"result": r.resultField(&r.kind.Result)}
}

// resultField reads what the rules of a result are.
func (r *foldReader) resultField(into *policy.Result) form.Field {
	return wordField(r.Reader, into, []policy.Result{"names", "evaluation", "application", "display"})
}

func (r *foldReader) readPlans(n *yaml.Node) {
	k := r.kind
	r.List(n, func(e *yaml.Node) {
		r.facts = nil
		k.Plans = append(k.Plans, r.readPlan(e, true))
		k.PlanFacts = append(k.PlanFacts, r.facts)
		k.AskedFacts = addAskedFacts(k.AskedFacts, r.facts)
	})
}

// addAskedFacts adds the names of facts to those that are asked for.
func addAskedFacts(names []string, facts policy.Facts) []string {
	for _, name := range topology.PathFacts() {
		if facts[name] != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r *foldReader) readPlan(n *yaml.Node, top bool) merge.Plan {
	var p merge.Plan
	var strategy *yaml.Node
	r.Object(n, map[string]form.Field{"name": r.Text(&p.Name), "levels": rolesField(r.reader, &p.Levels),
		"only": func(n *yaml.Node) { p.Only = r.readShape(n) }, "rules": func(
			n *yaml.Node) {
			p.Rules = r.readShape(n)
		},
		"of": func(n *yaml.Node) {
			p.Members = []merge.Plan{}
			r.List(n, func(e *yaml.Node) { p.Members = append(p.Members, r.readPlan(e, false)) })
		},
		"strategy": func(n *yaml.Node) { strategy = n },
		"each":     func(n *yaml.Node) { p.EachRole = string(r.readRole(n)) },
		"for": func(n *yaml.Node) {
			if r.facts = r.planFacts(n); !top {
				r.Fail(n, "only a plan that is no member of another one can be for certain paths")
			}
		},
		"func": func(n *yaml.Node) {
			var make func(model.Settings) merge.PlanFunc
			if functionField(r.Reader, &make, r.funcs.Plans, "to resolve policies")(n); make != nil {
				p.Func = make(r.kind.Settings)
			}
		},
		"facts": func(n *yaml.Node) {
			r.List(n, func(e *yaml.Node) {
				var name string
				r.Word(&name, topology.PathFacts())(e)
				r.kind.AskedFacts = addAskedFacts(r.kind.AskedFacts, policy.Facts{name: {}})
			})
		},
		"sameTarget": r.planSameTarget(&p)})
	if strategy != nil {
		r.planStrategy(strategy, &p)
	}
	if p.Levels != nil && p.Members != nil {
		r.Fail(n, "a plan has levels or members, not both")
	}
	return p
}

// planSameTarget reads what several policies on one target are to each other in a plan, where that
// is not as in the kind.
func (r *foldReader) planSameTarget(p *merge.Plan) form.Field {
	return func(n *yaml.Node) {
		var same policy.SameTarget
		wordField(r.Reader, &same, []policy.SameTarget{policy.Stacked, policy.Fill})(n)
		p.SameTarget, p.OwnTarget = merge.Stacked, true
		if same == policy.Fill {
			p.SameTarget = merge.Fill
		}
	}
}

func (r *foldReader) planFacts(n *yaml.Node) policy.Facts {
	out := policy.Facts{}
	fields := map[string]form.Field{}
	for _, name := range topology.PathFacts() {
		fields[name] = func(n *yaml.Node) {
			var values []string
			r.Texts(&values)(n)
			out[name] = values
		}
	}
	r.Object(n, fields)
	return out
}

// planStrategy reads the strategy of a plan: a word, or where it is read for every path.
func (r *foldReader) planStrategy(n *yaml.Node, p *merge.Plan) {
	if n.Kind == yaml.ScalarNode {
		s := strategyReader{r.reader}.readChoice(n).ForPlan()
		p.Strategy = &s
		return
	}
	from := &policy.StrategySource{}
	var places []string
	fallback := merge.Strategy{Wins: merge.ByBlock}
	r.Object(n, map[string]form.Field{"read": r.Texts(&places),
		"values":  func(n *yaml.Node) { from.Values = strategyReader{r.reader}.readChoices(n) },
		"default": func(n *yaml.Node) { fallback = strategyReader{r.reader}.readChoice(n).ForPlan() },
		"func":    functionField(r.Reader, &from.Func, r.funcs.Strategies, "to read strategies")})
	p.Strategy = &fallback
	if (from.Values == nil) == (from.Func == nil) {
		r.Fail(n, "a strategy that is read needs \"values\" or \"func\"")
	}
	if places == nil && from.Func != nil { // it is the same on all paths
		if s, ok := from.Func("", r.kind.Settings); ok {
			p.Strategy = &s
		}
	}
	for _, s := range places {
		r.readPlanPlace(n, p, from, s)
	}
}

// readPlanPlace reads one place where a plan's strategy is read. A kind reads it in one field of
// the lower side and one annotation.
func (r *foldReader) readPlanPlace(n *yaml.Node, p *merge.Plan, from *policy.StrategySource, place string) {
	k := r.kind
	switch {
	case strings.HasPrefix(place, "lower.spec."):
		from.Path = strings.Split(strings.TrimPrefix(place, "lower.spec."), ".")
		if k.DemandedStrategy != nil && !slices.Equal(k.DemandedStrategy.Path, from.Path) {
			r.Fail(n, "the plans of a kind read one field of the lower policy")
		}
		k.DemandedStrategy, p.FromLower = from, true
	case strings.HasPrefix(place, "annotation."):
		from.Name = strings.TrimPrefix(place, "annotation.")
		if k.HopSource != nil && k.HopSource.Name != from.Name {
			r.Fail(n, "the plans of a kind read one annotation")
		}
		if k.HopSource = from; p.EachRole == "" {
			r.Fail(n,
				"a strategy that an annotation states needs \"each\" before it: the role of the objects that have it")
		}
	case strings.HasPrefix(place, "setting."):
		if s := from.ParseStrategy(k.Settings.Text(k.Vendor+"."+strings.TrimPrefix(place, "setting.")),
			k.Settings); s != nil {
			p.Strategy = s
		}
	default:
		r.Fail(n, "%q is no place of a plan's strategy (lower.spec.FIELD, annotation.NAME, setting.NAME)", place)
	}
}
