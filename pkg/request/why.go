package request

import (
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostCompared is to how many rules the chosen one is compared in words.
const mostCompared = 10

// explain says why the listener and the rule were chosen: what they are for, and what decided against each runner-up.
func (t *trace) explain() {
	a := t.answer
	if a.Rule == topology.None {
		return
	}
	var why []string
	if len(t.places) > 1 {
		at := slices.IndexFunc(t.places, func(p entryListener) bool { return p.id == a.Listener })
		if at == 0 {
			why = append(why, fmt.Sprintf("%s is more specific than %s", t.m.name(t.places[0]), t.m.name(t.places[1])))
		} else {
			why = append(why, fmt.Sprintf("%s is used because no rule on %s matches", t.m.name(t.places[at]), t.m.name(t.places[0])))
		}
	}
	best := &t.sure[0]
	if best.match != nil {
		why = append(why, "matches "+best.match.text()+forHost(best))
	} else if best.host.Configured != "" {
		why = append(why, "matches hostname "+best.host.Configured)
	}
	compared := map[topology.NodeID]bool{best.rule: true}
	left := 0
	for i, by := range t.switches.whyFirst(t.sure) {
		c := &t.sure[i+1]
		if compared[c.rule] {
			continue
		}
		compared[c.rule] = true
		if len(compared)-1 > mostCompared {
			left++
			continue
		}
		other := t.m.graph.Node(c.rule).Ref
		name := other.String()
		if best.route == c.route {
			name = other.Section
		}
		why = append(why, "before "+name+": "+t.switches.beats(best, c, by))
	}
	if left > 0 {
		why = append(why, fmt.Sprintf("before %d more rules that match", left))
	}
	a.Why = append(why, a.Why...)
}

func forHost(c *candidate) string {
	if c.host.Configured == "" {
		return ""
	}
	return ", hostname " + c.host.Configured
}

// alternative is another value of a setting.
type alternative struct {
	setting, value string
	change         func(*switches)
}

// alternatives notes the settings of which another value would lead elsewhere. Most of them order the candidates otherwise; two look for others.
func (m *Matcher) alternatives(t *trace, w Where) {
	a, s := t.answer, *t.switches
	for _, other := range s.orders(t.sure) {
		changed := s
		other.change(&changed)
		if best := changed.best(t.sure); best != nil && best.rule != a.Rule {
			m.differs(a, other, best.rule)
		}
	}
	w.Gateway = a.Gateway
	var others []alternative
	if len(t.places) > 1 {
		others = append(others, alternative{topology.ListenerIsolation, either(s.shared, "true", "false"), func(s *switches) { s.shared = !s.shared }})
	}
	if m.expressions {
		others = append(others, alternative{topology.RegexAnchored, either(s.loose, "true", "false"), func(s *switches) { s.loose = !s.loose }})
	}
	for _, other := range others {
		changed := s
		other.change(&changed)
		if o, err := m.trace(&a.Request, w, &changed); err == nil && o.answer.key() != a.key() {
			m.differs(a, other, o.answer.Rule)
		}
	}
}

// orders are the other ways to order candidates.
func (s *switches) orders(cs []candidate) []alternative {
	out := []alternative{
		{topology.HostnamePrecedence, either(s.intersection, "original", "intersection"), func(s *switches) { s.intersection = !s.intersection }},
		{topology.PrefixLength, either(s.stripped, "literal", "stripped"), func(s *switches) { s.stripped = !s.stripped }},
		{topology.MethodRank, either(s.methodHeader, "own", "header"), func(s *switches) { s.methodHeader = !s.methodHeader }},
		{topology.RouteAgeSource, either(s.ageless, "creationTimestamp", "none"), func(s *switches) { s.ageless = !s.ageless }},
	}
	hasPath := func(c candidate) bool { return c.match != nil && !c.match.grpc && c.match.path.form == expression }
	if s.regexRank == ambiguousRank || !slices.ContainsFunc(cs, hasPath) {
		return out // where the place is not set, the answer is conditional
	}
	for _, rank := range []string{"afterExact", "afterPrefix", "byLength"} {
		if rank != s.regexRank {
			out = append(out, alternative{topology.RegexRank, rank, func(s *switches) { s.regexRank = rank }})
		}
	}
	return out
}

func (m *Matcher) differs(a *Answer, other alternative, rule topology.NodeID) {
	instead := "no rule matches"
	if rule != topology.None {
		instead = m.graph.Node(rule).Ref.String() + " takes the request"
	}
	a.note(model.Info, model.SettingMatters, nil, fmt.Sprintf("with %s=%s %s", other.setting, other.value, instead), "")
}

// either is the first text if b holds.
func either(b bool, first, second string) string {
	if b {
		return first
	}
	return second
}

// withheld makes the answer depend on routes that a cluster did not let us read.
func (m *Matcher) withheld(a *Answer) {
	cluster := m.graph.Cluster()
	if cluster == nil || a.Listener == topology.None {
		return
	}
	var kinds []string
	for _, kind := range a.Request.routeKinds() {
		if cluster.MissesAny(model.GroupKind{Group: gatewayv1.GroupName, Kind: kind}) {
			kinds = append(kinds, kind+"s")
		}
	}
	if m.mayMissSets(a.Gateway) {
		a.conditional("ListenerSets that may not be read may have a listener that answers instead")
	}
	if len(kinds) > 0 {
		a.conditional(strings.Join(kinds, " and ") + " that may not be read may come first")
	}
}

// mayMissSets reports whether a Gateway takes ListenerSets that a cluster did not let us read.
func (m *Matcher) mayMissSets(gateway topology.NodeID) bool {
	if gateway == topology.None || m.graph.Node(gateway).Object == nil {
		return false
	}
	from := m.graph.Node(gateway).Object.Text("spec", "allowedListeners", "namespaces", "from")
	return from != "" && from != "None" && slices.ContainsFunc(topology.ListenerSetKinds(), m.graph.Cluster().MissesAny)
}

// routeKinds are the kinds of routes that may take the request.
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
