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

// policyRecord is what became of one policy in all stacks in force.
type policyRecord struct {
	isInForce bool          // some rule of it is in force somewhere
	lost      []lostSetting // what of it is lost somewhere and in force nowhere, sorted; each once
	conflicts model.Set[conflict]
	blocked   []string // what it keeps out, though it may have no settings itself: rules of others
	replaced  model.Set[replacedByDefault]

	lostIndex map[policySetting]int // index into lost
	inForce   map[policySetting]bool
}

// policySetting is a rule of a block of a part of a policy.
type policySetting struct {
	part  *policy.Policy
	block merge.BlockKind
	rule  string
}

// lostSetting is a setting that is lost.
type lostSetting struct {
	part   string
	block  merge.BlockKind
	rule   string
	path   merge.Path
	of     *policy.Policy
	causes lossCauses
}

// collectRecords adds what becomes of the policies of a kind in every stack in force. A rule of
// which a part is in force is in force.
func collectRecords(r *resolve.Resolution, k *resolve.Kind, records map[*policy.Policy]*policyRecord) {
	of := func(p *policy.Policy) *policyRecord {
		base := p.Base()
		if records[base] == nil {
			records[base] = &policyRecord{lostIndex: map[policySetting]int{}, inForce: map[policySetting]bool{}}
		}
		return records[base]
	}
	k.FoldAll()
	k.EachStackInForce(func(s resolve.StackID) {
		o := k.Verdict(s)
		for _, rule := range o.Result.Rules {
			for _, from := range rule.From {
				p := o.Layers[from.Layer].Policy
				if p.Builtin != "" {
					continue
				}
				rec := of(p)
				rec.isInForce = true
				for d := range len(rule.Path) + 1 {
					rec.inForce[policySetting{p, from.Block, rule.Path[:d].String()}] = true
				}
			}
		}
		o.EachRenamed(func(from merge.Source, path merge.Path) {
			p := o.Layers[from.Layer].Policy
			of(p).inForce[policySetting{p, from.Block, path.String()}] = true
		})
		for _, loss := range o.Losses() {
			p := o.Layers[loss.From.Layer].Policy
			if loss.Reason == merge.NoEffect && loss.Value == nil || loss.From.Filled || p.Builtin != "" {
				continue
			}
			rec := of(p)
			rec.addLoss(r, o, loss)
			for _, to := range loss.To {
				if w := o.Layers[to.Layer].Policy; w.Builtin == "" && w.Base() != p.Base() {
					of(w).addBlocked(rec, p, w, loss, to.Source)
				}
			}
		}
	})
	for _, rec := range records {
		rec.lost = slices.DeleteFunc(rec.lost,
			func(l lostSetting) bool { return rec.inForce[policySetting{l.of, l.block, l.rule}] })
		slices.SortFunc(rec.lost, compareRules)
		clear(rec.lostIndex)
		for i, l := range rec.lost {
			rec.lostIndex[policySetting{l.of, l.block, l.rule}] = i
		}
	}
}

func (rec *policyRecord) addLoss(r *resolve.Resolution, o *resolve.Verdict, loss merge.Loss) {
	layer := o.Layers[loss.From.Layer]
	if loss.Reason == merge.Conflicted {
		rec.addConflict(r, o, loss)
	}
	key := policySetting{layer.Policy, loss.From.Block, loss.Rule}
	i, ok := rec.lostIndex[key]
	if !ok {
		i = len(rec.lost)
		rec.lostIndex[key] = i
		rec.lost = append(rec.lost, lostSetting{part: layer.Policy.Part, block: loss.From.Block, rule: loss.Rule,
			path: loss.Path, of: layer.Policy})
	}
	rec.lost[i].causes.addLoss(r, o, &loss)
}

// policyProblems are those about a policy that is in force nowhere, or some of whose rules are.
func (rec *policyRecord) policyProblems(p *policy.Policy) []model.Problem {
	if rec.isInForce {
		return rec.ruleProblems(p)
	}
	var all lossCauses
	for _, l := range rec.lost {
		all.merge(l.causes)
	}
	if all.unknown || all.bits == 0 {
		return nil
	}
	code, what := model.NeverInForce, "is in force nowhere"
	if all.bits&^(overriddenAbove|givesWayBelow) == 0 && !all.reportedElsewhere {
		code, what = model.PointlessPolicy, "changes nothing anywhere"
	}
	return []model.Problem{model.Problem{Severity: all.findingSeverity(), Code: code,
		Message: fmt.Sprintf("%s %s: %s", p.Ref(), what, all.formatCauses())}.At(p.Object)}
}

// ruleProblems are the findings about single rules, those with one explanation together.
func (rec *policyRecord) ruleProblems(p *policy.Policy) []model.Problem {
	type group struct {
		names model.Set[string]
		first lostSetting
	}
	groups := map[string]*group{}
	var order []string
	for _, l := range rec.lost {
		if l.causes.unknown || l.causes.reportedElsewhere || l.causes.bits == 0 {
			continue
		}
		text := l.causes.formatCauses()
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
		problem := model.Problem{Severity: g.first.causes.findingSeverity(), Code: model.RuleNeverInForce,
			Message: fmt.Sprintf("%s of %s %s in force nowhere: %s", explain.ListNames(g.names.List), p.Ref(), verb,
				text)}.At(p.Object)
		origin := g.first.of.OriginOf(g.first.block, g.first.path)
		problem.Origin = &origin
		out = append(out, problem)
	}
	return out
}
