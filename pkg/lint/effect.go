package lint

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// record is what became of one policy in all stacks in force.
type record struct {
	holds     bool   // some rule of it is in force somewhere
	lost      []lost // what of it is lost somewhere and in force nowhere, sorted; each once
	conflicts model.Set[conflict]
	shields   []string // what it keeps out, though it may have no settings itself: rules of others
	beaten    model.Set[beaten]

	at   map[setting]int // index into lost
	held map[setting]bool
}

// setting is a rule of a block of a part of a policy.
type setting struct {
	part  *policy.Policy
	block merge.BlockKind
	rule  string
}

// lost is a setting that is lost.
type lost struct {
	part   string
	block  merge.BlockKind
	rule   string
	path   merge.Path
	of     *policy.Policy
	causes causes
}

// collect adds what becomes of the policies of a kind in every stack in force. A rule of which a part is in force is in force.
func collect(r *resolve.Resolution, k *resolve.Kind, records map[*policy.Policy]*record) {
	of := func(p *policy.Policy) *record {
		base := p.Base()
		if records[base] == nil {
			records[base] = &record{at: map[setting]int{}, held: map[setting]bool{}}
		}
		return records[base]
	}
	k.Fold()
	k.InForce(func(s resolve.StackID) {
		o := k.Verdict(s)
		for _, rule := range o.Result.Rules {
			for _, from := range rule.From {
				p := o.Layers[from.Layer].Policy
				if p.Builtin != "" {
					continue
				}
				rec := of(p)
				rec.holds = true
				for d := range len(rule.Path) + 1 {
					rec.held[setting{p, from.Block, rule.Path[:d].String()}] = true
				}
			}
		}
		o.Renamed(func(from merge.From, path merge.Path) {
			p := o.Layers[from.Layer].Policy
			of(p).held[setting{p, from.Block, path.String()}] = true
		})
		for _, loss := range o.Losses() {
			p := o.Layers[loss.From.Layer].Policy
			if loss.Reason == merge.NoEffect && loss.Value == nil || loss.From.Filled || p.Builtin != "" {
				continue
			}
			rec := of(p)
			rec.lose(r, o, loss)
			for _, to := range loss.To {
				if w := o.Layers[to.Layer].Policy; w.Builtin == "" && w.Base() != p.Base() {
					of(w).wins(rec, p, w, loss, to.From)
				}
			}
		}
	})
	for _, rec := range records {
		rec.lost = slices.DeleteFunc(rec.lost, func(l lost) bool { return rec.held[setting{l.of, l.block, l.rule}] })
		slices.SortFunc(rec.lost, byRule)
		clear(rec.at)
		for i, l := range rec.lost {
			rec.at[setting{l.of, l.block, l.rule}] = i
		}
	}
}

func (rec *record) lose(r *resolve.Resolution, o *resolve.Verdict, loss merge.Loss) {
	layer := o.Layers[loss.From.Layer]
	if loss.Reason == merge.Conflicted {
		rec.conflict(r, o, loss)
	}
	key := setting{layer.Policy, loss.From.Block, loss.Rule}
	i, ok := rec.at[key]
	if !ok {
		i = len(rec.lost)
		rec.at[key] = i
		rec.lost = append(rec.lost, lost{part: layer.Policy.Part, block: loss.From.Block, rule: loss.Rule, path: loss.Path, of: layer.Policy})
	}
	rec.lost[i].causes.add(r, o, &loss)
}

// findings are those about a policy that is in force nowhere, or some of whose rules are.
func (rec *record) findings(p *policy.Policy) []model.Problem {
	if rec.holds {
		return rec.rules(p)
	}
	var all causes
	for _, l := range rec.lost {
		all.join(l.causes)
	}
	if all.unknown || all.set == 0 {
		return nil
	}
	code, what := model.NeverInForce, "is in force nowhere"
	if all.set&^(above|below) == 0 && !all.silent {
		code, what = model.PointlessPolicy, "changes nothing anywhere"
	}
	return []model.Problem{model.Problem{Severity: all.severity(), Code: code,
		Message: fmt.Sprintf("%s %s: %s", p.Ref(), what, all.sentence())}.At(p.Object)}
}

// rules are the findings about single rules, those with one explanation together.
func (rec *record) rules(p *policy.Policy) []model.Problem {
	type group struct {
		names model.Set[string]
		first lost
	}
	groups := map[string]*group{}
	var order []string
	for _, l := range rec.lost {
		if l.causes.unknown || l.causes.silent || l.causes.set == 0 {
			continue
		}
		text := l.causes.sentence()
		if groups[text] == nil {
			groups[text] = &group{first: l}
			order = append(order, text)
		}
		name := l.rule
		if l.part != "" {
			name = l.part + " " + name
		}
		if name == "" {
			name = "everything"
		}
		groups[text].names.Add(name)
	}
	var out []model.Problem
	for _, text := range order {
		g := groups[text]
		verb := "is"
		if len(g.names.List) > 1 {
			verb = "are"
		}
		problem := model.Problem{Severity: g.first.causes.severity(), Code: model.RuleNeverInForce,
			Message: fmt.Sprintf("%s of %s %s in force nowhere: %s", explain.Few(g.names.List), p.Ref(), verb, text)}.At(p.Object)
		origin := g.first.of.OriginOf(g.first.block, g.first.path)
		problem.Origin = &origin
		out = append(out, problem)
	}
	return out
}
