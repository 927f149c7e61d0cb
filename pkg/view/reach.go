package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The states of a policy, or of a rule of it, at one effective target.
const (
	StateEffective  = "Effective"
	StatePartial    = "Partial"
	StateOverridden = "Overridden"
	StateIgnored    = "Ignored"
)

// Reach lists every effective target below a policy's targets, and what became there of the policy or, if rule is not "", of that
// rule (its full printed name).
func Reach(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy, rule string) *PolicyReach {
	out := &PolicyReach{Policy: p.Ref(), Rule: rule, Sources: []Source{}, Items: []ReachItem{}}
	for _, scope := range r.ScopesOf(k) {
		for _, part := range scope.PartsOf(p) {
			out.Sources = append(out.Sources, findOwnSources(r, scope, part, rule)...)
		}
	}
	unnamed := rule != "" && len(out.Sources) == 0 // the fold of a scope gives the rule its name
	a := newCollector(r, Query{Kinds: []model.GroupKind{k.GroupKind}})
	a.onlyPolicy = p
	below := map[*resolve.Kind][]bool{}
	for _, scope := range r.ScopesOf(k) {
		below[scope] = scope.StacksHolding(p)
	}
	count := reachCounter{res: r, seen: map[string]map[model.Ref]bool{}}
	var scoped []topology.NodeID
	a.eachStack(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []Path) {
		if !below[k][s] {
			return
		}
		o := k.Verdict(s)
		a.addProblems(o.Problems...)
		a.addProblems(k.Guesses().Below(id, s)...)
		item := buildReachItem(r, o, p, rule)
		if unnamed {
			if item.State == StateIgnored { // it is a rule of another scope
				return
			}
			out.Sources = addSources(out.Sources, newVerdictWriter(r, o), p, rule)
		}
		item.Target, item.Paths, item.Rule, item.Unread = r.Node(id).Ref, paths, rule, r.DescribeGaps(k.Gaps().At(id))
		out.Items = append(out.Items, item)
		count.countNode(id, paths)
		if k.Scope != nil {
			scoped = append(scoped, id)
		}
		switch item.State {
		case StateEffective:
			out.Summary.Effective++
		case StatePartial:
			out.Summary.Partial++
		default:
			out.Summary.Overridden++
		}
	})
	count.fillSummary(&out.Summary)
	out.Items = append(out.Items, buildUnattachedItems(r, k, p)...)
	for _, at := range k.UnattachedTargets(p) {
		item := ReachItem{Target: r.Node(at.Node).Ref, Paths: []Path{}, Rule: rule, State: StateIgnored, By: []Source{}, Reason: at.Why, Unread: r.DescribeGaps(k.Gaps().At(at.Node)), unattachedInView: true}
		if at.InForce {
			item.State = StateEffective
			out.Summary.Effective++
		}
		out.Items = append(out.Items, item)
	}
	out.Finish("PolicyReach", append(unreadProblemsOf(r, k, p, scoped), filterReachProblems(r, k, p, a.foundProblems)...))
	return out
}

// filterReachProblems returns the problems of the input, and those found on the way, that matter to
// a policy.
func filterReachProblems(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy, found []model.Problem) []model.Problem {
	return slices.DeleteFunc(slices.Concat(found, r.Problems, k.Guesses().Of(p)), func(problem model.Problem) bool {
		generic := problem.Code == model.GenericKind && problem.Ref != nil && problem.Ref.GroupKind() == k.GroupKind
		return problem.Ref != nil && *problem.Ref != p.Ref() && !generic && problem.Severity != model.Error && !problem.IsIncomplete()
	})
}

// findOwnSources returns the blocks of a policy that set the rule, at every target that was found.
func findOwnSources(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy, rule string) []Source {
	out := []Source{}
	targets := k.TargetsOf(p)
	if p.Whole != nil {
		targets = p.Places
	}
	for _, id := range targets {
		if isServiceTwin(r, id, targets) {
			continue
		}
		for _, b := range p.Blocks {
			at := slices.IndexFunc(b.Units, func(u merge.Unit) bool { return isPartOfRule(u.Path.String(), rule) })
			if at < 0 {
				continue
			}
			ref, node, path := p.Ref(), r.Node(id), b.Units[at].Path
			if rule == "" {
				path = nil
			}
			origin := p.OriginOf(b.Kind, path)
			out = append(out, Source{Policy: &ref, Target: &node.Ref, Level: string(node.Role), Block: b.Kind.String(),
				Strategy: p.StrategyName(b.Kind), Condition: p.ConditionOf(b.Kind), Origin: &origin, Part: p.Part})
		}
	}
	return out
}

// addSources adds the sources that the outcome of a stack names for the rule, each once.
func addSources(to []Source, w verdictWriter, p *policy.Policy, rule string) []Source {
	mine := w.verdict.WrittenBy(p)
	add := func(name string, from []merge.Source, path merge.Path) {
		for _, f := range from {
			if !mine(f) || !isPartOfRule(name, rule) {
				continue
			}
			s := w.buildSource(f, path)
			if !slices.ContainsFunc(to, func(x Source) bool { return x.isSameBlock(s) && *x.Target == *s.Target }) {
				to = append(to, s)
			}
		}
	}
	for _, r := range w.verdict.Result.Rules {
		add(r.Name, r.From, r.Path)
	}
	for _, l := range w.verdict.Losses() {
		add(l.Rule, []merge.Source{l.From}, l.Path)
	}
	return to
}

// isPartOfRule reports whether a printed rule is the one asked for, or a part of it.
func isPartOfRule(printed, asked string) bool {
	return asked == "" || printed == asked || strings.HasPrefix(printed, asked+".") || strings.HasPrefix(printed, asked+"[")
}

func buildReachItem(r *resolve.Resolution, o *resolve.Verdict, p *policy.Policy, rule string) ReachItem {
	w := newVerdictWriter(r, o)
	item := ReachItem{By: []Source{}}
	mine := o.WrittenBy(p)
	won := 0
	for _, r := range o.Result.Rules {
		if isPartOfRule(r.Name, rule) && slices.ContainsFunc(r.From, mine) {
			won++
		}
	}
	o.EachRenamed(func(from merge.Source, path merge.Path) {
		if mine(from) && isPartOfRule(path.String(), rule) {
			won++
		}
	})
	var losses []merge.Loss
	var reasons []string
	for _, l := range o.Losses() {
		if !mine(l.From) || !isPartOfRule(l.Rule, rule) {
			continue
		}
		losses = append(losses, l)
		sentence := l.Rule + ": " + w.explainLoss(&l)
		if rule != "" {
			sentence = w.explainLoss(&l)
		}
		if !slices.Contains(reasons, sentence) {
			reasons = append(reasons, sentence)
		}
		for _, s := range w.buildSources(l.WinningSources(), l.Path) {
			if !slices.ContainsFunc(item.By, s.isSameBlock) {
				item.By = append(item.By, s)
			}
		}
	}
	item.State, item.Reason = reachState(won, losses), strings.Join(reasons, "; ")
	item.Why = w.describeLosses(losses)
	if item.State == StatePartial {
		item.Why = "partly " + item.Why
	}
	if item.State == StateIgnored {
		item.Reason = "the policy sets nothing here"
	}
	return item
}

// describeLosses says in a few words what became of settings that were lost, and to whom: "replaced
// by shop/cart-auth (route)".
func (w verdictWriter) describeLosses(losses []merge.Loss) string {
	var reasons []merge.Reason
	by := map[merge.Reason][]string{}
	for _, l := range losses {
		if !slices.Contains(reasons, l.Reason) {
			reasons = append(reasons, l.Reason)
		}
		for _, s := range w.buildSources(l.WinningSources(), l.Path) {
			name := sourceName(s)
			if s.Level != "" {
				name += " (" + explain.LevelName(s.Level) + ")"
			}
			if !slices.Contains(by[l.Reason], name) {
				by[l.Reason] = append(by[l.Reason], name)
			}
		}
	}
	var out []string
	for _, reason := range reasons {
		names := by[reason]
		if len(names) > 2 {
			names = []string{fmt.Sprintf("%s and %d more", names[0], len(names)-1)}
		}
		if fate := explain.DescribeOutcome(reason, strings.Join(names, ", ")); !slices.Contains(out, fate) {
			out = append(out, fate)
		}
	}
	return strings.Join(out, "; ")
}

// isSameBlock reports whether two sources are one block of one policy, or one setting that no
// policy wrote.
func (s Source) isSameBlock(x Source) bool {
	if s.Policy == nil || x.Policy == nil {
		return s.Policy == x.Policy && s.Builtin == x.Builtin
	}
	return *x.Policy == *s.Policy && x.Block == s.Block
}

// reachState returns the word for so many rules won and these lost.
func reachState(won int, losses []merge.Loss) string {
	switch {
	case won > 0 && len(losses) > 0:
		return StatePartial
	case won > 0:
		return StateEffective
	case len(losses) == 0:
		return StateIgnored
	}
	for _, only := range []merge.Reason{merge.Unset, merge.ConditionFalse, merge.Conflicted} {
		if !slices.ContainsFunc(losses, func(l merge.Loss) bool { return l.Reason != only }) {
			return string(only)
		}
	}
	return StateOverridden
}

// buildUnattachedItems returns an item for each reference of the policy that led nowhere.
func buildUnattachedItems(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy) []ReachItem {
	var out []ReachItem
	for i, ref := range p.Refs {
		if k.HasTarget(p, i) {
			continue
		}
		item := ReachItem{Target: ref.Ref, Paths: []Path{}, State: StateIgnored, By: []Source{}, Reason: "the policy does not attach"}
		if gaps := k.Gaps().OfRef(ref); len(gaps) > 0 {
			item.Unread = r.DescribeGaps(gaps)
		}
		for _, problem := range r.Problems {
			if problem.Ref != nil && *problem.Ref == p.Ref() && problem.Origin != nil && *problem.Origin == ref.Origin() {
				item.Reason = problem.Message
			}
		}
		out = append(out, item)
	}
	return out
}

// reachCounter counts the distinct objects below a policy's targets.
type reachCounter struct {
	res  *resolve.Resolution
	seen map[string]map[model.Ref]bool
}

func (c reachCounter) add(what string, ref model.Ref) {
	if c.seen[what] == nil {
		c.seen[what] = map[model.Ref]bool{}
	}
	c.seen[what][ref] = true
}

func (c reachCounter) countNode(id topology.NodeID, paths []Path) {
	for _, p := range paths {
		if p.Gateway != "" {
			c.add("gateways", model.Ref{Name: p.Gateway})
		}
		if p.Listener != "" {
			c.add("listeners", model.Ref{Namespace: p.ListenerSet, Name: p.Gateway, Section: p.Listener}) // names repeat across sets
		}
	}
	n := c.res.Node(id)
	switch n.Role {
	case topology.Route:
		c.add("routes", n.Ref)
	case topology.Rule:
		c.add("routes", n.Ref.WithoutSection())
		c.add("rules", n.Ref)
		for _, b := range c.res.Graph.Children(topology.Traffic, id) {
			c.add("backends", c.res.Node(b).Ref.WithoutSection())
		}
	case topology.Backend, topology.Port, topology.Opaque:
		c.add("backends", n.Ref.WithoutSection())
	}
}

func (c reachCounter) fillSummary(s *ReachSummary) {
	s.Gateways, s.Listeners, s.Routes = len(c.seen["gateways"]), len(c.seen["listeners"]), len(c.seen["routes"])
	s.RouteRules, s.Backends = len(c.seen["rules"]), len(c.seen["backends"])
}
