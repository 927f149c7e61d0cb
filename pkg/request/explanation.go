package request

import (
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// mostCompared is to how many rules the chosen one is compared in words.
const mostCompared = 10

// explainChoice says why the listener and the rule were chosen: what they are for, and what decided
// against each runner-up.
func (t *trace) explainChoice() {
	a := t.answer
	if a.Rule == topology.None {
		return
	}
	var why []string
	if len(t.fittingListeners) > 1 {
		at := slices.IndexFunc(t.fittingListeners, func(p entryListener) bool { return p.id == a.Listener })
		switch {
		case at < 0 || len(t.answeringTables) == 1 && len(t.answeringTables[0]) > 1: // they answer as one
		case at == 0:
			why = append(why, fmt.Sprintf("%s is more specific than %s", t.matcher.listenerName(t.fittingListeners[0]),
				t.matcher.listenerName(t.fittingListeners[1])))
		default:
			why = append(why, fmt.Sprintf("%s is used because no rule on %s matches",
				t.matcher.listenerName(t.fittingListeners[at]), t.matcher.listenerName(t.fittingListeners[0])))
		}
	}
	best := &t.sure[0]
	if best.match != nil {
		why = append(why, "matches "+best.match.formatText()+hostNote(best))
	} else if best.host.Configured != "" {
		why = append(why, "matches hostname "+best.host.Configured)
	}
	compared := map[topology.NodeID]bool{best.rule: true}
	left := 0
	for i, by := range t.settings.decidingCriteria(t.sure) {
		c := &t.sure[i+1]
		if compared[c.rule] {
			continue
		}
		compared[c.rule] = true
		if len(compared)-1 > mostCompared {
			left++
			continue
		}
		other := t.matcher.graph.Node(c.rule).Ref
		name := other.String()
		if best.route == c.route {
			name = other.Section
		}
		reason := t.settings.explainOrder(best, c, by)
		if t.settings.HostGroups == routing.GroupsUnsorted && !isOneGroup(best, c) &&
			t.settings.isCatchAll(c) && !t.settings.isCatchAll(best) {
			reason = t.settings.Name + " tries what takes every request last"
		}
		why = append(why, "wins over "+name+": "+reason)
	}
	if left > 0 {
		why = append(why, fmt.Sprintf("wins over %d more rules that match", left))
	}
	a.Why = append(why, a.Why...)
}

func hostNote(c *candidate) string {
	if c.host.Configured == "" {
		return ""
	}
	return ", hostname " + c.host.Configured
}

// alternative is another value of a setting.
type alternative struct {
	setting, value string
	change         func(*matchSettings)
}

// checkAlternatives notes the settings of which another value would lead elsewhere. Most of them
// order the candidates otherwise; two look for others.
func (m *Matcher) checkAlternatives(t *trace, w Destination) {
	a, s := t.answer, *t.settings
	if s.described {
		return // what is described of the data plane, or chosen, holds
	}
	for _, other := range s.listAlternatives(t.sure) {
		changed := s
		other.change(&changed)
		if best := changed.findBest(t.sure); best != nil && best.rule != a.Rule {
			m.noteDifference(a, other, best.rule)
		}
	}
	w.Gateway = a.Gateway
	var others []alternative
	if len(t.fittingListeners) > 1 {
		others = append(others, alternative{gatewayapi.ListenerIsolation, chooseText(s.sharedListeners, "true",
			"false"), func(s *matchSettings) { s.sharedListeners = !s.sharedListeners }})
	}
	if m.hasExpressions {
		others = append(others, alternative{gatewayapi.RegexAnchored, chooseText(s.Regex.Tied == routing.TiedNowhere,
			"true", "false"), func(s *matchSettings) {
			tied := chooseOther(s.Regex.Tied, routing.TiedBoth, routing.TiedNowhere)
			s.Regex.Tied, s.Regex.HeaderTied = tied, tied
		}})
	}
	for _, other := range others {
		changed := s
		other.change(&changed)
		if o, err := m.traceRequest(&a.Request, w, &changed); err == nil && o.answer.toKey() != a.toKey() {
			m.noteDifference(a, other, o.answer.Rule)
		}
	}
}

// listAlternatives returns the other ways to order candidates.
func (s *matchSettings) listAlternatives(cs []candidate) []alternative {
	standard := routing.Standard().Order
	asHeader, ageless := !slices.Contains(s.Order, routing.Method), !s.countsAge()
	reorder := func(asHeader, ageless bool) func(*matchSettings) {
		return func(s *matchSettings) {
			s.Order = standard
			if asHeader {
				s.Order = countMethodAsHeader(s.Order)
			}
			if ageless {
				s.Order = removeCriterion(s.Order, routing.Age)
			}
		}
	}
	out := []alternative{
		{gatewayapi.HostnamePrecedence, chooseText(s.Hostname == routing.Effective, "original", "intersection"),
			func(s *matchSettings) { s.Hostname = chooseOther(s.Hostname, routing.Configured, routing.Effective) }},
		{gatewayapi.PrefixLength, chooseText(s.PrefixLength == routing.Trimmed, "literal", "stripped"),
			func(s *matchSettings) {
				s.PrefixLength = chooseOther(s.PrefixLength, routing.AsWritten, routing.Trimmed)
			}},
		{gatewayapi.MethodRank, chooseText(asHeader, "own", "header"), reorder(!asHeader, ageless)},
		{gatewayapi.RouteAgeSource, chooseText(ageless, "creationTimestamp", "none"), reorder(asHeader, !ageless)},
	}
	hasPath := func(c candidate) bool { return c.match != nil && !c.match.grpc && c.match.path.form == expression }
	if s.hasUnknownRank() || !slices.ContainsFunc(cs, hasPath) {
		return out // where the place is not set, the answer is conditional
	}
	for _, name := range []string{"afterExact", "afterPrefix", "byLength"} {
		if rank := regexRanks[name]; rank != s.Regex.Rank {
			out = append(out, alternative{gatewayapi.RegexRank, name, func(s *matchSettings) { s.Regex.Rank = rank }})
		}
	}
	return out
}

func (m *Matcher) noteDifference(a *Answer, other alternative, rule topology.NodeID) {
	a.addProblem(model.Info, model.SettingMatters, nil, fmt.Sprintf("with %s=%s %s", other.setting, other.value,
		m.formatTaker(rule)), "")
}

// formatTaker says which rule takes a request, or that none does (None).
func (m *Matcher) formatTaker(rule topology.NodeID) string {
	if rule == topology.None {
		return "no rule matches"
	}
	return m.graph.Node(rule).Ref.String() + " takes the request"
}

// chooseOther returns the second of two values for the first, and else the first.
func chooseOther[T comparable](value, first, second T) T {
	if value == first {
		return second
	}
	return first
}

// chooseText returns the first text if b holds, else the second.
func chooseText(b bool, first, second string) string {
	if b {
		return first
	}
	return second
}

// checkForbidden makes the rule uncertain where routes or ListenerSets may not be read in the
// cluster.
func (m *Matcher) checkForbidden(a *Answer) {
	cluster := m.graph.Cluster()
	if cluster == nil || a.Listener == topology.None {
		return
	}
	var kinds []string
	for _, kind := range a.Request.routeKinds() {
		if cluster.HasUnread(model.GroupKind{Group: gatewayv1.GroupName, Kind: kind}) {
			kinds = append(kinds, kind+"s")
		}
	}
	if m.mayMissSets(a.Gateway) {
		a.makeRuleUncertain("a forbidden ListenerSet may have a listener that answers instead")
	}
	if len(kinds) > 0 {
		a.makeRuleUncertain("forbidden " + strings.Join(kinds, " and ") + " may come first")
	}
}

// mayMissSets reports whether a Gateway takes ListenerSets that may not be read in the cluster.
func (m *Matcher) mayMissSets(gateway topology.NodeID) bool {
	if gateway == topology.None || m.graph.Node(gateway).Object == nil {
		return false
	}
	from := m.graph.Node(gateway).Object.Text("spec", "allowedListeners", "namespaces", "from")
	return from != "" && from != "None" && slices.ContainsFunc(gatewayapi.ListenerSetKinds(),
		m.graph.Cluster().HasUnread)
}

// routeKinds returns the kinds of routes that may take the request.
func (r *Request) routeKinds() []string {
	switch {
	case r.Protocol == TCP, r.Protocol == UDP, r.Protocol == TLS:
		return []string{string(r.Protocol) + "Route"}
	case r.Protocol == GRPC:
		return []string{"GRPCRoute", "HTTPRoute"}
	case r.Secure:
		return []string{"HTTPRoute", "TLSRoute"}
	}
	return []string{"HTTPRoute"}
}
