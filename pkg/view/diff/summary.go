package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// buildSummary counts what changes.
func (d *policyComparer) buildSummary() DiffSummary {
	s := DiffSummary{Unchanged: d.unchanged, Unprotected: []KindCount{}, Bare: []model.Ref{}, Uncovered: []Uncovered{},
		Exposed: []Uncovered{}}
	targets, spaces := map[model.Ref]bool{}, map[string]bool{}
	whole := map[model.Ref]map[string]bool{} // targets that are new or gone
	unprotected := map[kindAtTarget]bool{}
	for i := range d.items {
		c := &d.items[i]
		targets[c.Target] = true
		if c.Target.Namespace != "" {
			spaces[c.Target.Namespace] = true
		}
		switch c.Change {
		case changeAdded:
			s.Added++
		case changeRemoved:
			s.Removed++
		default:
			s.Changed++
		}
		if c.SourcesOnly {
			s.SourcesOnly++
		}
		if len(c.Unread) > 0 {
			s.Uncertain++
		}
		if c.TargetChange == changeAdded || c.TargetChange == changeRemoved {
			whole[c.Target] = map[string]bool{c.TargetChange: true}
		}
		if c.Unprotected {
			unprotected[kindAtTarget{c.PolicyKind, c.Target}] = true
		}
	}
	s.Targets, s.Namespaces = len(targets), len(spaces)
	for t := range targets {
		if isRouteRule(t) {
			s.RouteRules++
		}
		if whole[t][changeAdded] {
			s.New++
		}
		if whole[t][changeRemoved] {
			s.Gone++
		}
	}
	s.Unprotected = countByKind(unprotected)
	d.findUncovered(&s)
	for _, kind := range slices.Sorted(maps.Keys(d.exposed)) {
		slices.SortFunc(d.exposed[kind], view.CompareTargets)
		s.Exposed = append(s.Exposed, Uncovered{kind, d.exposed[kind]})
	}
	return s
}

func countByKind(of map[kindAtTarget]bool) []KindCount {
	count := map[string]int{}
	for key := range of {
		count[key.kind]++
	}
	out := []KindCount{}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		out = append(out, KindCount{kind, count[kind]})
	}
	return out
}

func isRouteRule(ref model.Ref) bool {
	return ref.Section != "" && strings.HasSuffix(ref.Kind, "Route")
}

// findUncovered finds the route rules that get traffic and did not before, on which no policy of
// some kind is in force.
func (d *policyComparer) findUncovered(s *DiffSummary) {
	fresh := map[model.Ref][]topology.NodeID{}
	behind := map[model.Ref][]model.Ref{} // the other rules, by the Gateways and Services behind which they are
	a := d.after.collector
	for id := range d.after.res.Graph.Len() {
		id := topology.NodeID(id)
		n := d.after.res.Graph.Node(id)
		if n.Role != topology.Rule || n.Delegates || !a.HasRulesOf(n.Ref.GroupKind()) || !a.HasTraffic(id) ||
			d.query.Namespace != "" && n.Ref.Namespace != d.query.Namespace {
			continue
		}
		if d.before.getsTraffic(n.Ref) {
			for _, place := range d.after.parentsOfRule(id) {
				behind[place] = append(behind[place], n.Ref)
			}
			continue
		}
		fresh[n.Ref] = append(fresh[n.Ref], id)
	}
	for ref := range fresh {
		if d.isUncertainRule(ref) {
			delete(fresh, ref)
		}
	}
	if len(fresh) == 0 {
		return
	}
	covered := map[kindAtTarget]bool{}
	some := map[model.Ref]bool{}
	for i := range d.after.list.Items {
		item := &d.after.list.Items[i]
		covered[kindAtTarget{item.PolicyKind, item.Target}] = true
		some[item.Target] = true
	}
	missing := map[string][]model.Ref{}
	usual := map[model.Ref][]string{}
	for place, rules := range behind {
		usual[place] = d.usualKinds(rules, covered)
	}
	for _, ref := range slices.SortedFunc(maps.Keys(fresh), view.CompareTargets) {
		if !some[ref] {
			s.Bare = append(s.Bare, ref)
			continue
		}
		var kinds []string
		for _, id := range fresh[ref] {
			for _, place := range d.after.parentsOfRule(id) {
				kinds = append(kinds, usual[place]...)
			}
		}
		slices.Sort(kinds)
		for _, kind := range slices.Compact(kinds) {
			if !covered[kindAtTarget{kind, ref}] {
				missing[kind] = append(missing[kind], ref)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(missing)) {
		s.Uncovered = append(s.Uncovered, Uncovered{kind, missing[kind]})
	}
}

// isUncertainRule reports whether something that could not be read may mean that a rule is not new,
// or not without a policy.
func (d *policyComparer) isUncertainRule(ref model.Ref) bool {
	for _, s := range []*comparedSide{d.before, d.after} {
		for _, other := range []*comparedSide{d.before, d.after} {
			for _, k := range other.collector.AskedKinds {
				if len(s.unreadListsAt(kindAtTarget{k.Name(), ref})) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// usualKinds returns the kinds of which most of some rules have a policy in force.
func (d *policyComparer) usualKinds(rules []model.Ref, covered map[kindAtTarget]bool) []string {
	var out []string
	for _, k := range d.after.collector.AskedKinds {
		n := 0
		for _, ref := range rules {
			if covered[kindAtTarget{k.Name(), ref}] {
				n++
			}
		}
		if 2*n > len(rules) && k.Scope == nil {
			out = append(out, k.Name())
		}
	}
	return out
}

// getsTraffic reports whether a route rule is there and traffic comes to it.
func (s *comparedSide) getsTraffic(ref model.Ref) bool {
	return slices.ContainsFunc(s.res.Graph.Lookup(ref), s.collector.HasTraffic)
}

// parentsOfRule returns the Gateways, listener sets and Services behind which a route rule is,
// sorted.
func (s *comparedSide) parentsOfRule(id topology.NodeID) []model.Ref {
	var out []model.Ref
	seen := map[topology.NodeID]bool{}
	for level := []topology.NodeID{id}; len(level) > 0; {
		var above []topology.NodeID
		for _, id := range level {
			if seen[id] {
				continue
			}
			seen[id] = true
			switch n := s.res.Graph.Node(id); n.Role {
			case topology.Rule, topology.Route:
				above = append(above, s.res.Graph.Parents(topology.All, id)...)
			default:
				out = append(out, n.Ref.WithoutSection())
			}
		}
		level = above
	}
	slices.SortFunc(out, model.Ref.Compare)
	return slices.Compact(out)
}

// Headline says the answer in a few sentences: what is lost, what changes, and what must not be
// missed.
func (d *EffectivePolicyDiff) Headline() []string {
	out := append(d.schemaSentence(), d.lossSentences("rule")...)
	first := len(out)
	out = append(out, d.changeSentence())
	out = append(out, d.gainSentences()...)
	out = append(out, d.unprotectedSentences("")...)
	out = append(out, d.newRuleSentences()...)
	out = append(out, d.exposedSentences()...)
	if !d.Complete {
		out = append(out, "The answer is incomplete.")
	}
	if !strings.HasSuffix(out[first], ".") && len(out) > 1 {
		out[first] += "."
	}
	return out
}

// changeSentence says how much changes.
func (d *EffectivePolicyDiff) changeSentence() string {
	switch s := &d.Summary; {
	case len(d.Items) > 0:
		return s.formatExtent() + "."
	case len(d.Protection) > 0:
		return "No effective policy changes."
	case s.Unchanged == 0:
		return "nothing changes: no policy is in force before or after"
	default:
		return "nothing changes: " + view.FormatNumber(s.Unchanged) + " effective " + policyIsOrAre(s.Unchanged) +
			" the same"
	}
}

// unprotectedSentences says how many targets lose their only policy of a kind. The noun is that of
// the targets, or empty.
func (d *EffectivePolicyDiff) unprotectedSentences(noun string) []string {
	kinds := d.collectKindNames()
	var out []string
	for _, u := range d.Summary.Unprotected {
		text := view.FormatNumber(u.Count) + " "
		if noun != "" {
			text += view.InflectNoun(u.Count, noun) + " "
		}
		out = append(out, text+view.InflectNoun(u.Count, "loses its|lose their")+" only "+
			kinds.ShortName(u.PolicyKind)+".")
	}
	return out
}

// newRuleSentences says how many new route rules lack a policy.
func (d *EffectivePolicyDiff) newRuleSentences() []string {
	kinds := d.collectKindNames()
	var out []string
	if n := len(d.Summary.Bare); n > 0 {
		out = append(out, fmt.Sprintf("%s no policy.", view.FormatCount(n, "new route rule has|new route rules have")))
	}
	for _, u := range d.Summary.Uncovered {
		out = append(out, fmt.Sprintf("%s no %s, unlike most others behind the same Gateway.",
			view.FormatCount(len(u.Targets), "new route rule has|new route rules have"), kinds.ShortName(u.PolicyKind)))
	}
	return out
}

// exposedSentences says how many targets get traffic on a new path without a policy.
func (d *EffectivePolicyDiff) exposedSentences() []string {
	kinds := d.collectKindNames()
	var out []string
	for _, u := range d.Summary.Exposed {
		noun := "route rule gets|route rules get"
		if slices.ContainsFunc(u.Targets, func(t model.Ref) bool { return !isRouteRule(t) }) {
			noun = "target gets|targets get"
		}
		out = append(out, fmt.Sprintf("%s traffic on a new path without %s.", view.FormatCount(len(u.Targets), noun),
			kinds.ShortName(u.PolicyKind)))
	}
	return out
}

func policyIsOrAre(n int) string { return view.InflectNoun(n, "policy is|policies are") }

// formatExtent says how much changes.
func (s *DiffSummary) formatExtent() string {
	var parts []string
	if s.RouteRules > 0 {
		parts = append(parts, view.FormatNumber(s.RouteRules)+" "+view.InflectNoun(s.RouteRules, "route rule"))
	}
	if n := s.Targets - s.RouteRules; n > 0 {
		noun := "other target"
		if s.RouteRules == 0 {
			noun = "target"
		}
		parts = append(parts, view.FormatNumber(n)+" "+view.InflectNoun(n, noun))
	}
	out := strings.Join(parts, " and ")
	if s.Namespaces > 0 {
		out += " in " + view.FormatCount(s.Namespaces, "namespace")
	}
	out += " " + view.InflectNoun(s.Targets, "changes|change")
	var whole []string
	if s.New > 0 {
		whole = append(whole, view.FormatNumber(s.New)+" "+view.InflectNoun(s.New, "is|are")+" new")
	}
	if s.Gone > 0 {
		whole = append(whole, view.FormatNumber(s.Gone)+" "+view.InflectNoun(s.Gone, "is|are")+" gone")
	}
	if len(whole) > 0 {
		out += ": " + strings.Join(whole, ", ")
	}
	return out
}

// collectKindNames returns the kinds that the answer names.
func (d *EffectivePolicyDiff) collectKindNames() view.KindNames {
	out := view.KindNames{}
	for i := range d.Items {
		out.Add(d.Items[i].PolicyKind)
	}
	for _, u := range slices.Concat(d.Summary.Uncovered, d.Summary.Exposed) {
		out.Add(u.PolicyKind)
	}
	return out
}
