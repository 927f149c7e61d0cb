package networkpolicy

import (
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// listEntry is a rule in the list of a pod, or what NetworkPolicies deny by selecting it.
type listEntry struct {
	*rule
	layer   int
	written any
	tied    bool // a rule that hands on may stand before it: their policies have the same priority
}

// newListPlan makes the list of a direction: the rules that a pod's connections meet, in order.
func newListPlan(dir direction) merge.PlanFunc {
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		var l ruleList
		for i := range s.Layers {
			part, ok := s.Layers[i].Meta.(*policy.Policy)
			switch {
			case !ok:
			case part.Part == isolation:
				l.isolating = append(l.isolating, merge.Source{Layer: i, Block: merge.Bare})
			default:
				l.entries = append(l.entries, listEntry{rule: readRule(part.Object, dir, part.Index, part.Entry),
					layer: i, written: part.Entry.Value()})
			}
		}
		l.markTies()
		for i, e := range l.entries {
			if e.stage == baselineTier && l.isolating != nil && !l.denied {
				l.addIsolation(dir)
			}
			l.addEntry(i)
		}
		if l.isolating != nil && !l.denied {
			l.addIsolation(dir)
		}
		return l.units, l.effects
	}
}

// isolation is what the part of a NetworkPolicy is called that is no rule: that it denies what none
// allows.
const isolation = "isolation"

// ruleList is the list of one direction as it grows.
type ruleList struct {
	entries   []listEntry
	isolating []merge.Source
	denied    bool // the isolation is in the list
	units     []merge.Unit
	effects   []merge.Effect
}

// addEntry puts an entry into the list, unless it is never reached.
func (l *ruleList) addEntry(i int) {
	e := l.entries[i]
	path := rulePath(e.rule)
	from := []merge.Source{{Layer: e.layer, Block: merge.Bare}}
	value := ruleValue(e)
	effect := merge.Effect{Path: path, Rule: path.String(), Value: value, From: from, Action: merge.Taken}
	switch by := l.findShadowing(i); {
	case e.peers == nil && !e.everybody:
		effect.Action, effect.Reason = merge.Dropped, merge.NoEffect
	case by != nil:
		effect.Action, effect.Reason, effect.Other = merge.Dropped, merge.Shadowed, by
	default:
		l.units = append(l.units, merge.Unit{Path: path, Value: value, From: from})
	}
	l.effects = append(l.effects, effect)
}

// addIsolation puts what NetworkPolicies do to all that they do not allow into the list.
func (l *ruleList) addIsolation(dir direction) {
	l.denied = true
	path := merge.KeyPath(ownPolicies.String(), string(dir))
	l.units = append(l.units, merge.Unit{Path: append(path, merge.Segment{Name: "rest"}),
		Value: map[string]any{"action": "Deny"}, From: l.isolating})
}

// findShadowing is what decides every connection that the ith entry matches before it is asked; nil
// if nothing certainly does.
func (l *ruleList) findShadowing(i int) []merge.Source {
	e := l.entries[i]
	if e.stage == baselineTier && l.isolating != nil {
		return l.isolating
	}
	passes := false
	for j, o := range l.entries {
		if i == j || o.stage > e.stage || o.stage == e.stage && !certainlyPrecedes(o.rule, e.rule) {
			continue
		}
		passes = passes || o.tied // such a rule may have taken the connections past o
		final := o.stage == e.stage || o.stage == adminTier && o.action != pass && !passes
		if final && o.stage != ownPolicies && o.coversRule(e.rule) {
			return []merge.Source{{Layer: o.layer, Block: merge.Bare}}
		}
		passes = passes || o.action == pass
	}
	return nil
}

// markTies notes the entries that a passing rule may stand before.
func (l *ruleList) markTies() {
	for _, p := range l.entries {
		if p.action != pass {
			continue
		}
		for j := range l.entries {
			if o := &l.entries[j]; p.stage == o.stage && p.policy != o.policy && p.rank == o.rank {
				o.tied = true
			}
		}
	}
}

// certainlyPrecedes reports whether a rule is certainly asked before another one of its tier.
func certainlyPrecedes(a, b *rule) bool {
	if a.policy == b.policy {
		return a.index < b.index
	}
	return a.rank != noPriority && b.rank != noPriority && a.rank < b.rank
}

// rulePath is where a rule stands: rules of several policies may be printed alike.
func rulePath(r *rule) merge.Path {
	return merge.Path{{Name: r.stage.String()}, {Name: string(r.dir)},
		{Name: r.policy.Ref.Kind + " " + r.policy.Ref.Name, Form: merge.HiddenKey}, {Name: strconv.Itoa(r.index),
			Form: merge.Entry}}
}

// ruleValue is the rule as it is written, with its action.
func ruleValue(e listEntry) any {
	fields, ok := e.written.(map[string]any)
	if !ok {
		return map[string]any{"action": e.actionWord}
	}
	fields["action"] = e.actionWord
	if e.everybody && e.unread != nil { // whatever is written
		fields["action"], fields["failsClosed"] = "Deny", true
	}
	return fields
}

// newPartNormalizer makes parts of what stands in NetworkPolicies that are about a direction.
func newPartNormalizer(dir direction) policy.PartNormalizer {
	return func(part *policy.Policy, settings any, _ model.Settings) any {
		if !isAboutDirection(part.Object, dir) {
			return policy.NoPart{}
		}
		if settings == nil { // a rule that allows everything
			return map[string]any{}
		}
		return settings
	}
}
