package request

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// refusal is why a proxy refuses all routes of a port: two listeners have routes for one hostname.
type refusal struct {
	listeners [2]topology.NodeID
	hosts     model.Tally
	open      string        // why it is not known whether that is so; "": it is
	problem   model.Problem // what is reported
}

// findRefusals returns why the routes of a port of a Gateway are refused, one for each pair of
// listeners; what is known for certain comes first.
func (m *Matcher) findRefusals(gateway topology.NodeID, port int32) []refusal {
	at := portKey{gateway: gateway, port: port}
	if known, ok := m.refusals[at]; ok {
		return known
	}
	s := m.settingsAt(gateway)
	open, _ := m.listenersOnPort(&Request{Protocol: HTTP, Port: port}, gateway, "")
	open = slices.SortedFunc(slices.Values(open), func(a, b entryListener) int {
		return m.graph.Node(a.id).Ref.Compare(m.graph.Node(b.id).Ref)
	})
	var hosts []map[string]servedHost
	for _, p := range open {
		hosts = append(hosts, m.listServedHosts(p.id, s))
	}
	var out []refusal
	for i := range open {
		for j := range open[:i] {
			if r, routes := m.compareServedHosts(hosts[j], hosts[i]); routes != nil {
				r.listeners = [2]topology.NodeID{open[j].id, open[i].id}
				r.problem = r.buildProblem(m, gateway, port, routes)
				out = append(out, r)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b refusal) int { return cmp.Compare(len(a.open), len(b.open)) })
	m.refusals[at] = out
	return out
}

// listServedHosts returns the effective hostnames for which a listener has routes, without those that
// belong to another listener.
func (m *Matcher) listServedHosts(listener topology.NodeID, s *matchSettings) map[string]servedHost {
	out := map[string]servedHost{}
	for _, kind := range []string{"HTTPRoute", "GRPCRoute"} {
		for host, b := range m.findIndex(listener)[kind] {
			one := m.findServed(b, s)
			if before, seen := out[host]; seen {
				one = before.join(one)
			}
			if len(one.routes.List) > 0 {
				out[host] = one
			}
		}
	}
	return out
}

// compareServedHosts tells which hostnames two listeners have both, and which routes have them there;
// nil: none.
func (m *Matcher) compareServedHosts(a, b map[string]servedHost) (r refusal, routes []model.Ref) {
	sure := func(host string) bool { return a[host].open == "" && b[host].open == "" }
	var shared []string
	for host := range a {
		if _, both := b[host]; both {
			shared = append(shared, host)
		}
	}
	if certain := slices.DeleteFunc(slices.Clone(shared), func(h string) bool { return !sure(h) }); certain != nil {
		shared = certain
	}
	slices.Sort(shared)
	for _, host := range shared {
		r.hosts.Add(chooseText(host == "", "*", host))
		r.open = cmp.Or(r.open, a[host].open, b[host].open)
		for _, id := range slices.Concat(a[host].routes.List, b[host].routes.List) {
			routes = append(routes, m.graph.Node(id).Ref)
		}
	}
	slices.SortFunc(routes, model.Ref.Compare)
	return r, slices.Compact(routes)
}

// buildProblem says that the routes of the port are refused.
func (r *refusal) buildProblem(m *Matcher, gateway topology.NodeID, port int32, of []model.Ref) model.Problem {
	var routes model.Tally
	for _, ref := range of {
		routes.Add(ref.String())
	}
	return model.Problem{Severity: model.Error, Code: model.ProxyRefuses,
		Message: fmt.Sprintf(
			"%s and %s share port %d and both have routes for %s (%s): the proxy of %s refuses all routes of the port; it keeps what it had before, and a new one has none", m.graph.Node(r.listeners[0]).Ref,
			m.graph.Node(r.listeners[1]).Ref, port, r.hosts.String(), routes.String(), m.settingsAt(gateway).Name),
		Hint: "attach the route to one of the listeners, by sectionName in its parentRef, or give the routes other hostnames"}.
		At(m.graph.Node(gateway).Object)
}

// checkRefusal makes the rule uncertain where the proxy refuses the routes of the port.
func (t *trace) checkRefusal(gateway topology.NodeID) {
	r := t.request
	if !t.settings.RefusesSharedHosts || r.Secure || r.Protocol != HTTP && r.Protocol != GRPC {
		return
	}
	found := t.matcher.findRefusals(gateway, r.Port)
	if len(found) == 0 {
		return
	}
	p := found[0].problem
	if found[0].open != "" {
		t.answer.makeRuleUncertain("it may be that " + p.Message + ": " + found[0].open)
		return
	}
	t.answer.makeRuleUncertain(p.Message)
	t.answer.Problems = append(t.answer.Problems, p)
}

// findRefusedPorts finds the ports whose routes the proxy refuses.
func (m *Matcher) findRefusedPorts() []model.Problem {
	var out []model.Problem
	for _, gateway := range m.listGateways() {
		if !m.settingsAt(gateway).RefusesSharedHosts || m.graph.Node(gateway).Object == nil {
			continue
		}
		var ports []int32
		for _, p := range m.listListeners(gateway) {
			if p.facts.Protocol == "HTTP" && !slices.Contains(ports, p.facts.Port) {
				ports = append(ports, p.facts.Port)
			}
		}
		for _, port := range ports {
			for _, r := range m.findRefusals(gateway, port) {
				if r.open == "" {
					out = append(out, r.problem)
				}
			}
		}
	}
	return out
}

// explainConditions says what a match asks for beside the path.
func (m *match) explainConditions() string {
	_, rest, _ := strings.Cut(m.formatText(), ", ")
	return rest
}
