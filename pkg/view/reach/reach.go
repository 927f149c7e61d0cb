package reach

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// The states of a policy, or of a rule of it, at one effective target.
const (
	StateEffective  = "Effective"
	StatePartial    = "Partial"
	StateOverridden = "Overridden"
	StateIgnored    = "Ignored"
)

// Find lists every effective target below a policy's targets, and what became there of the policy
// or, if rule is not "", of that rule (its full printed name).
func Find(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy, rule string) *PolicyReach {
	out := &PolicyReach{Policy: p.Ref(), Rule: rule, Sources: []view.Source{}, Items: []ReachItem{}}
	for _, scope := range r.ScopesOf(k) {
		for _, part := range scope.PartsOf(p) {
			out.Sources = append(out.Sources, findOwnSources(r, scope, part, rule)...)
		}
	}
	unnamed := rule != "" && len(out.Sources) == 0 // the fold of a scope gives the rule its name
	a := collect.New(r, view.Query{Kinds: []model.GroupKind{k.GroupKind}})
	a.OnlyPolicy = p
	below := map[*resolve.Kind][]bool{}
	for _, scope := range r.ScopesOf(k) {
		below[scope] = scope.StacksHolding(p)
	}
	count := reachCounter{res: r, seen: map[string]map[model.Ref]bool{}}
	var scoped []topology.NodeID
	a.EachStack(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []view.Path) {
		if !below[k][s] {
			return
		}
		o := k.Verdict(s)
		a.AddProblems(o.Problems...)
		a.AddProblems(k.Guesses().Below(id, s)...)
		item := buildReachItem(r, o, p, rule)
		if unnamed {
			if item.State == StateIgnored { // it is a rule of another scope
				return
			}
			out.Sources = addSources(out.Sources, collect.NewVerdictWriter(r, o), p, rule)
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
		item := ReachItem{Target: r.Node(at.Node).Ref, Paths: []view.Path{}, Rule: rule, State: StateIgnored,
			By: []view.Source{}, Reason: at.Why, Unread: r.DescribeGaps(k.Gaps().At(at.Node)), unattachedInView: true}
		if at.InForce {
			item.State = StateEffective
			out.Summary.Effective++
		}
		out.Items = append(out.Items, item)
	}
	out.Finish("PolicyReach", append(collect.UnreadProblemsOf(r, k, p, scoped), filterReachProblems(r, k, p,
		a.FoundProblems)...))
	return out
}

// filterReachProblems returns the problems of the input, and those found on the way, that matter to
// a policy.
func filterReachProblems(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy,
	found []model.Problem) []model.Problem {
	return slices.DeleteFunc(slices.Concat(found, r.Problems, k.Guesses().Of(p)), func(problem model.Problem) bool {
		generic := problem.Code == model.GenericKind && problem.Ref != nil && problem.Ref.GroupKind() == k.GroupKind
		return problem.Ref != nil && *problem.Ref != p.Ref() && !generic && problem.Severity != model.Error &&
			!problem.IsIncomplete()
	})
}

// findOwnSources returns the blocks of a policy that set the rule, at every target that was found.
func findOwnSources(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy, rule string) []view.Source {
	out := []view.Source{}
	targets := k.TargetsOf(p)
	if p.Whole != nil {
		targets = p.Places
	}
	for _, id := range targets {
		if collect.IsServiceTwin(r, id, targets) {
			continue
		}
		for _, b := range p.Blocks {
			at := slices.IndexFunc(b.Units,
				func(u merge.Unit) bool { return collect.IsPartOfRule(u.Path.String(), rule) })
			if at < 0 {
				continue
			}
			ref, node, path := p.Ref(), r.Node(id), b.Units[at].Path
			if rule == "" {
				path = nil
			}
			origin := p.OriginOf(b.Kind, path)
			out = append(out, view.Source{Policy: &ref, Target: &node.Ref, Level: string(node.Role),
				Block:    b.Kind.String(),
				Strategy: p.StrategyName(b.Kind), Condition: p.ConditionOf(b.Kind), Origin: &origin, Part: p.Part})
		}
	}
	return out
}

// addSources adds the sources that the outcome of a stack names for the rule, each once.
func addSources(to []view.Source, w collect.VerdictWriter, p *policy.Policy, rule string) []view.Source {
	mine := w.Verdict.WrittenBy(p)
	add := func(name string, from []merge.Source, path merge.Path) {
		for _, f := range from {
			if !mine(f) || !collect.IsPartOfRule(name, rule) {
				continue
			}
			s := w.BuildSource(f, path)
			if !slices.ContainsFunc(to, func(x view.Source) bool {
				return x.IsSameBlock(s) &&
					*x.Target == *s.Target
			}) {
				to = append(to, s)
			}
		}
	}
	for _, r := range w.Verdict.Result.Rules {
		add(r.Name, r.From, r.Path)
	}
	for _, l := range w.Verdict.Losses() {
		add(l.Rule, []merge.Source{l.From}, l.Path)
	}
	return to
}

func buildReachItem(r *resolve.Resolution, o *resolve.Verdict, p *policy.Policy, rule string) ReachItem {
	w := collect.NewVerdictWriter(r, o)
	item := ReachItem{By: []view.Source{}}
	mine := o.WrittenBy(p)
	won := 0
	for _, r := range o.Result.Rules {
		if collect.IsPartOfRule(r.Name, rule) && slices.ContainsFunc(r.From, mine) {
			won++
		}
	}
	o.EachRenamed(func(from merge.Source, path merge.Path) {
		if mine(from) && collect.IsPartOfRule(path.String(), rule) {
			won++
		}
	})
	var losses []merge.Loss
	var reasons []string
	for _, l := range o.Losses() {
		if !mine(l.From) || !collect.IsPartOfRule(l.Rule, rule) {
			continue
		}
		losses = append(losses, l)
		sentence := l.Rule + ": " + w.ExplainLoss(&l)
		if rule != "" {
			sentence = w.ExplainLoss(&l)
		}
		if !slices.Contains(reasons, sentence) {
			reasons = append(reasons, sentence)
		}
		for _, s := range w.BuildSources(l.WinningSources(), l.Path) {
			if !slices.ContainsFunc(item.By, s.IsSameBlock) {
				item.By = append(item.By, s)
			}
		}
	}
	item.State, item.Reason = reachState(won, losses), strings.Join(reasons, "; ")
	item.Why = w.DescribeLosses(losses)
	if item.State == StatePartial {
		item.Why = "partly " + item.Why
	}
	if item.State == StateIgnored {
		item.Reason = "the policy sets nothing here"
	}
	return item
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
		item := ReachItem{Target: ref.Ref, Paths: []view.Path{}, State: StateIgnored, By: []view.Source{},
			Reason: "the policy does not attach"}
		if gaps := k.Gaps().OfRef(ref); len(gaps) > 0 {
			item.Unread = r.DescribeGaps(gaps)
		}
		for _, problem := range r.Problems {
			if problem.Ref != nil && *problem.Ref == p.Ref() && problem.Origin != nil &&
				*problem.Origin == ref.Origin() {
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

func (c reachCounter) countNode(id topology.NodeID, paths []view.Path) {
	for _, p := range paths {
		if p.Gateway != "" {
			c.add("gateways", model.Ref{Name: p.Gateway})
		}
		if p.Listener != "" {
			// names repeat across sets
			c.add("listeners", model.Ref{Namespace: p.ListenerSet, Name: p.Gateway, Section: p.Listener})
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
