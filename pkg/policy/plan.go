package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// Reading is a strategy that is read somewhere else than in the policy that is merged: in a field of the policy below it, or in an
// annotation of the object that a level belongs to.
type Reading struct {
	Path   []string // a field below the settings root
	Name   string   // of an annotation
	Values map[string]Choice
	Func   StrategyOf
}

// StrategyOf is the strategy that a text stands for; not ok if it stands for none.
type StrategyOf func(raw string, s model.Settings) (strategy merge.Strategy, ok bool)

// choose is the strategy that a text stands for, nil for none.
func (r *Reading) choose(raw string, s model.Settings) *merge.Strategy {
	if r.Func != nil {
		if strategy, ok := r.Func(raw, s); ok {
			return &strategy
		}
		return nil
	}
	if c, ok := r.Values[raw]; ok {
		strategy := c.planned()
		return &strategy
	}
	return nil
}

// HopStrategy is the strategy by which the policies of one hop are merged into what is below: read at the hop's object, nil if it says none.
func (k *Kind) HopStrategy(o *model.Object) *merge.Strategy {
	if k.hop == nil || o == nil {
		return nil
	}
	return k.hop.choose(o.Annotations[k.hop.Name], k.settings)
}

// asks reads what the policy demands as the lower side of a merge.
func (d *decoder) asks() {
	r := d.kind.asks
	if r == nil {
		return
	}
	raw := d.spec.At(r.Path...)
	if raw.IsNull() {
		return
	}
	if d.policy.Asks = r.choose(raw.Text(), d.kind.settings); d.policy.Asks == nil {
		at := slices.Concat(d.kind.Content.At, r.Path)
		d.problem(model.UnknownStrategy, at, "%s %q is not known: it is taken as not set", r.Path[len(r.Path)-1], fmt.Sprint(raw.Value()))
	}
}

// Facts are the values that facts of a path may have, by fact.
type Facts map[string][]string

// Asked lists the facts that the kind's plans ask for, sorted.
func (k *Kind) Asked() []string { return k.asked }

// PlansFor are the plans for a path: those whose facts fit.
func (k *Kind) PlansFor(fact func(name string) string) []merge.Plan {
	if k.asked == nil {
		return k.Plans
	}
	var out []merge.Plan
plans:
	for i, p := range k.Plans {
		for name, values := range k.only[i] {
			if !slices.Contains(values, fact(name)) {
				continue plans
			}
		}
		out = append(out, p)
	}
	return out
}

func (r *kindReader) resolve(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		r.facts = nil
		p := r.plan(e, true)
		r.plans = append(r.plans, p)
		r.kind.only = append(r.kind.only, r.facts)
		for _, name := range topology.PathFacts() {
			if r.facts[name] != nil && !slices.Contains(r.kind.asked, name) {
				r.kind.asked = append(r.kind.asked, name)
			}
		}
	})
}

func (r *kindReader) plan(n *yaml.Node, top bool) merge.Plan {
	var p merge.Plan
	var each []string
	var strategy *yaml.Node
	r.object(n, map[string]field{"name": r.text(&p.Name), "levels": r.roles(&p.Levels), "needs": r.roles(&p.Needs),
		"only": func(n *yaml.Node) { p.Only = r.shape(n) }, "rules": func(n *yaml.Node) { p.Rules = r.shape(n) },
		"of": func(n *yaml.Node) {
			p.Of = []merge.Plan{}
			r.list(n, func(e *yaml.Node) { p.Of = append(p.Of, r.plan(e, false)) })
		},
		"strategy": func(n *yaml.Node) { strategy = n },
		"each": func(n *yaml.Node) {
			r.roles(&each)(&yaml.Node{Kind: yaml.SequenceNode, Line: n.Line, Content: []*yaml.Node{n}})
			p.Each = each[0]
		},
		"for": func(n *yaml.Node) {
			if r.facts = r.planFacts(n); !top {
				r.fail(n, "only a plan that is no member of another one can be for certain paths")
			}
		},
		"func": func(n *yaml.Node) {
			var name string
			r.text(&name)(n)
			if make, ok := r.funcs.Plans[name]; ok {
				p.Func = make(r.kind.settings)
			} else {
				r.fail(n, "there is no function %q to resolve policies", name)
			}
		},
		"sameTarget": r.planTarget(&p)})
	if strategy != nil {
		r.planStrategy(strategy, &p)
	}
	if p.Levels != nil && p.Of != nil {
		r.fail(n, "a plan has levels or members, not both")
	}
	return p
}

// planTarget reads what several policies on one target are to each other in a plan, where that is not as in the kind.
func (r *kindReader) planTarget(p *merge.Plan) field {
	return func(n *yaml.Node) {
		var word string
		r.word(&word, []string{string(Stacked), string(Fill)}, "union")(n)
		p.SameTarget, p.OwnTarget = merge.Stacked, true
		if SameTarget(word) == Fill {
			p.SameTarget = merge.Fill
		}
	}
}

func (r *kindReader) planFacts(n *yaml.Node) Facts {
	out := Facts{}
	fields := map[string]field{}
	for _, name := range topology.PathFacts() {
		fields[name] = func(n *yaml.Node) {
			var values []string
			r.texts(&values)(n)
			out[name] = values
		}
	}
	r.object(n, fields)
	return out
}

// planStrategy reads the strategy of a plan: a word, or where it is read for every path.
func (r *kindReader) planStrategy(n *yaml.Node, p *merge.Plan) {
	if n.Kind == yaml.ScalarNode {
		s := r.choice(n).planned()
		p.Strategy = &s
		return
	}
	from := &Reading{}
	var places []string
	fallback := merge.Strategy{Wins: merge.ByBlock}
	r.object(n, map[string]field{"read": r.texts(&places), "values": func(n *yaml.Node) { from.Values = r.choices(n) },
		"default": func(n *yaml.Node) { fallback = r.choice(n).planned() },
		"func": func(n *yaml.Node) {
			var name string
			r.text(&name)(n)
			if from.Func = r.funcs.Strategies[name]; from.Func == nil {
				r.fail(n, "there is no function %q to read strategies", name)
			}
		}})
	p.Strategy = &fallback
	if (from.Values == nil) == (from.Func == nil) {
		r.fail(n, "a strategy that is read needs \"values\" or \"func\"")
	}
	if places == nil && from.Func != nil { // it is the same on all paths
		if s, ok := from.Func("", r.kind.settings); ok {
			p.Strategy = &s
		}
	}
	for _, s := range places {
		r.planPlace(n, p, from, s)
	}
}

// planPlace is one place where a plan's strategy is read. A kind reads it in one field of the lower side and one annotation.
func (r *kindReader) planPlace(n *yaml.Node, p *merge.Plan, from *Reading, place string) {
	k := r.kind
	switch {
	case strings.HasPrefix(place, "lower.spec."):
		from.Path = strings.Split(strings.TrimPrefix(place, "lower.spec."), ".")
		if k.asks != nil && !slices.Equal(k.asks.Path, from.Path) {
			r.fail(n, "the plans of a kind read one field of the lower policy")
		}
		k.asks, p.FromLower = from, true
	case strings.HasPrefix(place, "annotation."):
		from.Name = strings.TrimPrefix(place, "annotation.")
		if k.hop != nil && k.hop.Name != from.Name {
			r.fail(n, "the plans of a kind read one annotation")
		}
		if k.hop = from; p.Each == "" {
			r.fail(n, "a strategy that an annotation states needs \"each\" before it: the role of the objects that have it")
		}
	case strings.HasPrefix(place, "setting."):
		if s := from.choose(k.settings.Text(k.Vendor+"."+strings.TrimPrefix(place, "setting.")), k.settings); s != nil {
			p.Strategy = s
		}
	default:
		r.fail(n, "%q is no place of a plan's strategy (lower.spec.FIELD, annotation.NAME, setting.NAME)", place)
	}
}
