package collect

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// answerCache keeps the answers of stacks that have been built.
type answerCache struct {
	summaries bool // values are also said in a few words
	byStack   map[*resolve.Kind]map[resolve.StackID]*stackAnswer
	// by stack, of kinds whose answers are built when they are needed and are not kept
	facts map[*resolve.Kind][]stackFacts
}

// stackFacts is what a list has to know of a stack before it builds the items of the stack.
type stackFacts struct {
	problems             []model.Problem
	RuleCount, LossCount int // how many are in force, and are not
	LastItem             int // the position of the last item of the list that needs the answer
	hasBareReference     bool
	reported             bool // the problems are among those found
	known                bool // false of a stack that is in force nowhere
}

// stackAnswer is what the effective policies of one stack have in common.
type stackAnswer struct {
	stackFacts
	policy view.EffectivePolicy

	places         explain.LayerTargets
	values         func() *explain.RuleExplainer
	explainedRules map[string][]view.Rule // the rules with the reasons, by how targets see the stack
}

// policyAt returns the effective policy at a target. Why a rule is in force depends on where its
// policies stand as seen from there.
func (a *stackAnswer) policyAt(target model.Ref) view.EffectivePolicy {
	out := a.policy
	seen := a.places.RelationKey(target)
	rules, ok := a.explainedRules[seen]
	if !ok {
		rules = slices.Clone(out.Rules)
		values := a.values()
		for i := range rules {
			rules[i].Why = values.ExplainRule(target, &values.Verdict.Result.Rules[i])
		}
		if a.explainedRules == nil {
			a.explainedRules = map[string][]view.Rule{}
		}
		a.explainedRules[seen] = rules
	}
	out.Target, out.Rules = target, rules
	return out
}

// answerOf returns the answer of a stack, and builds it if it has not been built.
func (a *answerCache) answerOf(r *resolve.Resolution, k *resolve.Kind, s resolve.StackID) *stackAnswer {
	known := a.byStack[k][s]
	if known == nil {
		known = a.newAnswer(r, k, k.Verdict(s))
		a.storeAnswer(k, s, known)
	}
	return known
}

func (a *answerCache) storeAnswer(k *resolve.Kind, s resolve.StackID, made *stackAnswer) {
	if a.byStack == nil {
		a.byStack = map[*resolve.Kind]map[resolve.StackID]*stackAnswer{}
	}
	if a.byStack[k] == nil {
		a.byStack[k] = map[resolve.StackID]*stackAnswer{}
	}
	a.byStack[k][s] = made
}

// buildAll builds the answers of all stacks in force of some kinds.
func (a *answerCache) buildAll(r *resolve.Resolution, kinds []*resolve.Kind) {
	for _, k := range kinds {
		targets := map[resolve.StackID][]topology.NodeID{}
		k.EachContext(func(id topology.NodeID, s resolve.StackID) { targets[s] = append(targets[s], id) })
		a.buildStacks(r, k, k.Stacks(), targets)
	}
}

// buildStacks builds the answers of stacks, as many at a time as there are processors, with their
// rules explained for the given targets. The folds themselves are not kept.
func (a *answerCache) buildStacks(r *resolve.Resolution, k *resolve.Kind, stacks []resolve.StackID,
	targets map[resolve.StackID][]topology.NodeID) {
	made := make([]*stackAnswer, len(stacks))
	k.EachVerdict(stacks, func(i int, o *resolve.Verdict) {
		made[i] = a.newAnswer(r, k, o)
		for _, id := range targets[stacks[i]] {
			made[i].policyAt(r.Node(id).Ref)
		}
		// for further targets, which are not expected
		made[i].values = func() *explain.RuleExplainer { return newExplainValues(r, k.Verdict(stacks[i])) }
	})
	for i, s := range stacks {
		a.storeAnswer(k, s, made[i])
	}
}

// collectFacts folds all stacks in force of some kinds, and keeps only the facts that are needed
// beforehand. They are folded again when their items are built: folding takes less time than
// collecting what is kept. Answers of kinds with conditions are kept, as conditions are evaluated
// once.
func (a *answerCache) collectFacts(r *resolve.Resolution, kinds []*resolve.Kind) {
	a.facts = map[*resolve.Kind][]stackFacts{}
	for _, k := range kinds {
		if resolve.HasConditions(k) {
			a.buildAll(r, []*resolve.Kind{k})
			continue
		}
		stacks := k.Stacks()
		last := resolve.StackID(0)
		for _, s := range stacks {
			last = max(last, s)
		}
		facts := make([]stackFacts, last+1)
		k.EachVerdict(stacks, func(i int, o *resolve.Verdict) { facts[stacks[i]] = newStackFacts(k, o) })
		a.facts[k] = facts
	}
}

// findFacts returns the facts collected beforehand for a stack; nil if there are none.
func (a *answerCache) findFacts(k *resolve.Kind, s resolve.StackID) *stackFacts {
	if facts := a.facts[k]; int(s) < len(facts) && facts[s].known {
		return &facts[s]
	}
	return nil
}

func newStackFacts(k *resolve.Kind, o *resolve.Verdict) stackFacts {
	return stackFacts{known: true, RuleCount: len(o.Result.Rules), LossCount: len(o.Result.Lost), problems: o.Problems,
		hasBareReference: k.Scope == nil && k.NamespacedRefs != nil && slices.ContainsFunc(o.Result.Rules,
			func(r merge.Rule) bool { return hasBareReference(r.Value) })}
}

// newAnswer returns what is known of the verdict of a stack, as the question wants it.
func (a *answerCache) newAnswer(r *resolve.Resolution, k *resolve.Kind, o *resolve.Verdict) *stackAnswer {
	out := newStackAnswer(r, k, o)
	if len(out.policy.Rules) > 1 {
		out.policy.RuleOrder = k.RuleOrder
	}
	if len(k.Counts) > 0 {
		for i := range out.policy.Rules {
			rule := &out.policy.Rules[i]
			if c := k.FindCounting(rule.Path, rule.Value); c != nil {
				rule.Counts, rule.Counted = c.Text, strings.Join(c.At, ".")
			}
		}
	}
	if a.summaries {
		summarizeValues(&out.policy, k.Summaries, &o.Result)
	}
	return out
}

// summarizeValues says the values of an effective policy, which was made of a result, in a few words.
func summarizeValues(e *view.EffectivePolicy, words []policy.Summary, of *merge.Result) {
	for i := range of.Rules {
		from, rule := &of.Rules[i], &e.Rules[i]
		rule.Summary = view.SummarizeValue(words, from.Path, from.Value)
		for j := range from.Lost {
			rule.Lost[j].Summary = view.SummarizeValue(words, from.Lost[j].Path, from.Lost[j].Value)
		}
	}
	for i := range of.Lost {
		e.Lost[i].Summary = view.SummarizeValue(words, of.Lost[i].Path, of.Lost[i].Value)
	}
}

func newStackAnswer(r *resolve.Resolution, k *resolve.Kind, o *resolve.Verdict) *stackAnswer {
	w, values := VerdictWriter{r, o}, newExplainValues(r, o)
	out := view.EffectivePolicy{PolicyKind: k.Name(), Ordered: o.Result.Ordered, Profile: k.Profile,
		Rules: make([]view.Rule, 0, len(o.Result.Rules)), Policies: w.buildPolicyUses(values.Roles), Lost: make(
			[]view.RuleLoss, 0, len(o.Result.Lost))}
	out.SetSummaries(k.Summaries)
	for _, rule := range o.Result.Rules {
		out.Rules = append(out.Rules, w.buildRule(rule))
	}
	for i := range o.Result.Lost {
		loss := &o.Result.Lost[i]
		out.Lost = append(out.Lost, view.RuleLoss{Rule: loss.Rule, Loss: w.buildLoss(loss)})
	}
	for _, g := range o.Result.Groups {
		group := view.Group{Name: g.Name, Rules: []view.Rule{}}
		for _, rule := range g.Rules {
			group.Rules = append(group.Rules, w.buildRule(rule))
		}
		out.Groups = append(out.Groups, group)
	}
	if doc := o.Result.Document(); doc != nil {
		// packed, as an answer about everything keeps one for every stack
		out.Spec = model.Pack(k.NestSettings(doc), nil)
	}
	out.ID = HashContent(&out)
	return &stackAnswer{stackFacts: newStackFacts(k, o), policy: out, places: values.Targets,
		values: func() *explain.RuleExplainer { return values }}
}

func newExplainValues(r *resolve.Resolution, v *resolve.Verdict) *explain.RuleExplainer {
	return &explain.RuleExplainer{Targets: explain.LayerTargetsOf(r, v), Verdict: v, Roles: v.Roles()}
}
