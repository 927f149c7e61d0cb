package request

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Part is a part of a request, or of where it goes, that kept a rule or a listener from taking it.
type Part string

// The parts, the nearest first. OfListener: a more specific listener answers. OfAttachment: the route is not attached where the request arrives.
const (
	OfMethod     Part = "method"
	OfCall       Part = "grpc"
	OfHeader     Part = "header"
	OfQuery      Part = "query"
	OfPath       Part = "path"
	OfListener   Part = "listener"
	OfAttachment Part = "attachment"
	OfHost       Part = "host"
	OfPort       Part = "port"
	OfProtocol   Part = "protocol"
)

// NearMiss is a rule or a listener that one part alone kept from taking a request.
type NearMiss struct {
	Part     Part
	Listener topology.NodeID // where the request arrives, or would
	Rule     topology.NodeID // None: it is known of the listener only
	Why      string          // what it wants, and what the request has

	alike int  // how much of the wanted text the request has; more is nearer
	far   bool // the path has nothing in common with the wanted one
}

// mostNear is how many near misses an answer has.
const mostNear = 3

// near notes what nearly took a request that nothing takes.
func (t *trace) near(w Where) {
	a, r := t.answer, t.r
	if a.Outcome != NoMatch && a.Assumed != NoMatch || a.Rule != topology.None {
		return
	}
	var found []NearMiss
	switch {
	case r.From != "":
		found = t.nearInMesh()
	case a.Gateway != topology.None && t.m.graph.Node(a.Gateway).Object == nil:
	case len(t.places) == 0:
		found = t.nearListeners(w)
	default:
		found = t.nearRules()
		if w.Gateway == topology.None { // another Gateway may be meant
			found = append(found, slices.DeleteFunc(t.nearListeners(w), func(n NearMiss) bool { return n.Rule == topology.None })...)
		}
	}
	if likely := slices.DeleteFunc(slices.Clone(found), func(n NearMiss) bool { return n.far }); len(likely) > 0 {
		found = likely
	}
	slices.SortStableFunc(found, func(a, b NearMiss) int {
		return cmp.Or(cmp.Compare(nearness(a.Part), nearness(b.Part)), cmp.Compare(b.alike, a.alike))
	})
	seen := map[topology.NodeID]bool{}
	for _, n := range found {
		about := n.Rule
		if about == topology.None {
			about = n.Listener
		}
		if seen[about] || len(a.Near) == mostNear {
			continue
		}
		seen[about] = true
		a.Near = append(a.Near, n)
	}
}

func nearness(p Part) int {
	return slices.Index([]Part{OfMethod, OfCall, OfHeader, OfQuery, OfListener, OfAttachment, OfPath, OfHost, OfPort, OfProtocol}, p)
}

// nearInMesh are the rules of the Service that nearly match.
func (t *trace) nearInMesh() []NearMiss {
	if t.answer.Listener == topology.None {
		return nil
	}
	service := t.answer.Service
	producers, consumers, _ := t.meshRoutes(t.m.frontends(service, t.m.graph.PortName(service, t.r.Port)), service)
	if len(consumers) > 0 {
		producers = consumers
	}
	return t.nearly(t.answer.Listener, producers)
}

// nearRules are the rules that nearly match at the listeners that answer, those that match at a less specific one, and those of routes that
// are not attached.
func (t *trace) nearRules() []NearMiss {
	answering := t.places
	if !t.switches.shared {
		answering = t.m.answering(t.r, t.places)
	}
	var out []NearMiss
	for _, p := range answering {
		kind, host := t.kindAt(p)
		table := t.m.at(p.id)[kind]
		if hasMatches(kind) {
			hostnames(host, func(h string) {
				if b := table[h]; b != nil {
					out = append(out, t.nearly(p.id, b.all())...)
				}
			})
		}
		out = append(out, t.nearHosts(p.id, table, host)...)
	}
	for _, p := range t.places {
		if slices.ContainsFunc(answering, func(o entryListener) bool { return o.id == p.id }) {
			continue
		}
		kind, host := t.kindAt(p)
		for _, c := range t.matching(t.m.at(p.id)[kind], host) {
			out = append(out, NearMiss{Part: OfListener, Listener: p.id, Rule: c.rule,
				Why: "matches on " + t.m.name(p) + ", but the more specific " + t.m.name(answering[0]) + " answers"})
		}
	}
	return append(out, t.nearUnattached(answering)...)
}

// kindAt is the kind of routes that is looked for at a listener, and the name that their hostnames are for.
func (t *trace) kindAt(p entryListener) (kind, host string) {
	switch {
	case p.facts.Protocol == "TLS":
		return "TLSRoute", t.r.SNI
	case p.facts.Protocol == "TCP", p.facts.Protocol == "UDP":
		return p.facts.Protocol + "Route", ""
	case t.r.Protocol == GRPC && len(t.m.at(p.id)["GRPCRoute"]) > 0:
		return "GRPCRoute", t.r.Host
	}
	return "HTTPRoute", t.r.Host
}

// matching are the candidates of a table that hold for the request, best first.
func (t *trace) matching(of table, host string) []candidate {
	probe := trace{m: t.m, r: t.r, switches: t.switches}
	of.near(t.r, host, probe.hold)
	probe.order()
	return probe.sure
}

// nearly are the candidates that one part alone keeps from matching.
func (t *trace) nearly(place topology.NodeID, cs []candidate) []NearMiss {
	var out []NearMiss
	for i := range cs {
		c := &cs[i]
		if c.match == nil || c.open != "" {
			continue
		}
		part, why, alike := c.match.misses(t.r, !t.switches.loose)
		if part != "" {
			far := part == OfPath && (c.match.path.form == expression || !alikePaths(c.match.path.value, t.r.Path))
			out = append(out, NearMiss{Part: part, Listener: place, Rule: c.rule, Why: why, alike: alike, far: far})
		}
	}
	return out
}

// misses is the one part of a request that keeps it from a match, with what the match wants; "" if it is none or more than one.
func (m *match) misses(r *Request, anchored bool) (part Part, why string, alike int) {
	type miss struct {
		part  Part
		wants string
		has   string
	}
	var all []miss
	values := func(part Part, list []valueMatch, get func(string) (string, bool)) {
		for _, v := range list {
			if has, present := get(v.name); v.holds(has, present, anchored) == no {
				all = append(all, miss{part, v.text(), map[bool]string{true: has, false: "none"}[present]})
			}
		}
	}
	if m.grpc {
		if min(m.service.holds(r.Service, true, anchored), m.call.holds(r.Call, true, anchored)) == no {
			bare := match{grpc: true, service: m.service, call: m.call}
			all, alike = append(all, miss{OfCall, bare.text(), r.Service + "/" + r.Call}), likeness(m.service.value+"/"+m.call.value, r.Service+"/"+r.Call)
		}
	} else {
		if m.path.holds(r.Path, anchored) == no {
			all, alike = append(all, miss{OfPath, m.path.text(), r.Path}), likeness(m.path.value, r.Path)
		}
		if m.method != "" && m.method != r.Method {
			all = append(all, miss{OfMethod, "method " + m.method, r.Method})
		}
		values(OfQuery, m.query, r.query)
	}
	values(OfHeader, m.headers, r.header)
	if len(all) == 0 || slices.ContainsFunc(all, func(o miss) bool { return o.part != all[0].part }) {
		return "", "", 0
	}
	var wants, has []string
	for _, o := range all {
		wants, has = append(wants, o.wants), append(has, o.has)
	}
	text := strings.Join(wants, ", ")
	if part = all[0].part; part == OfHeader || part == OfQuery {
		text = string(part) + " " + text
	}
	return part, "wants " + text + "; the request has " + strings.Join(has, ", "), alike
}

// likeness is how many characters two texts have in common at their beginnings and ends.
func likeness(a, b string) int {
	most, n := min(len(a), len(b)), 0
	for n < most && a[n] == b[n] {
		n++
	}
	end := 0
	for end < most-n && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return n + end
}

// alikePaths reports whether a path may be a slip for another: their first segments are alike.
func alikePaths(a, b string) bool {
	first := func(path string) string {
		one, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return one
	}
	a, b = first(a), first(b)
	return 2*likeness(a, b) >= max(len(a), len(b), 1)
}

// alikeHosts reports whether a host may be a slip for a hostname: one label is misspelt, or differs behind a first one that is right, or is too
// much or too little.
func alikeHosts(name, host string) bool {
	if rest, wild := strings.CutPrefix(name, "*."); wild {
		first, _, _ := strings.Cut(host, ".")
		if rest == host {
			return true
		}
		name = first + "." + rest
	}
	a, b := strings.Split(name, "."), strings.Split(host, ".")
	most, begin := min(len(a), len(b)), 0
	for begin < most && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < most-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	a, b = a[begin:len(a)-end], b[begin:len(b)-end]
	switch {
	case begin+end < 1 || len(a) > 1 || len(b) > 1:
		return false
	case len(a) == 0 || len(b) == 0:
		return begin+end > 1
	}
	return begin > 0 && begin+end > 1 || 2*likeness(a[0], b[0]) >= max(len(a[0]), len(b[0]))
}

// nearHosts are the best rules that match for hostnames that look like the request's.
func (t *trace) nearHosts(place topology.NodeID, of table, host string) []NearMiss {
	if host == "" {
		return nil
	}
	var names []string
	for h := range of {
		if h != "" && !takes(h, host) && alikeHosts(h, host) {
			names = append(names, h)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(likeness(b, host), likeness(a, host)), strings.Compare(a, b))
	})
	var out []NearMiss
	for _, h := range names {
		found := t.matching(table{"": of[h]}, "")
		if len(found) > 0 {
			out = append(out, NearMiss{Part: OfHost, Listener: place, Rule: found[0].rule, alike: likeness(h, host), Why: "is for host " + h + "; the request has " + host})
		}
		if len(out) == mostNear {
			break
		}
	}
	return out
}

// nearUnattached are the rules that match, of routes that a listener that answers does not take.
func (t *trace) nearUnattached(answering []entryListener) []NearMiss {
	kind, host := t.kindAt(answering[0])
	var out []NearMiss
	parents := []topology.NodeID{t.answer.Gateway}
	for _, p := range answering { // which a ListenerSet may have
		for _, id := range t.m.graph.Parents(topology.Traffic, p.id) {
			if !slices.Contains(parents, id) {
				parents = append(parents, id)
			}
		}
	}
	var refused []refusal
	for _, id := range parents {
		refused = append(refused, t.m.unattached()[id]...)
	}
	for _, u := range refused {
		n := t.m.graph.Node(u.route)
		here := u.listener == topology.None || slices.ContainsFunc(answering, func(p entryListener) bool { return p.id == u.listener })
		if n.Ref.Kind != kind || !here || !forOne(hostsOf(n), host) {
			continue
		}
		for _, rule := range t.m.graph.Children(topology.All, u.route) {
			holds := !hasMatches(kind)
			for _, m := range t.m.matches(rule) {
				holds = holds || m.holds(t.r, !t.switches.loose) == yes
			}
			if holds {
				out = append(out, NearMiss{Part: OfAttachment, Listener: answering[0].id, Rule: rule, Why: "is not attached: " + u.why})
				break
			}
		}
	}
	return out
}

// refusal is a route that wants to be attached to a Gateway and is not, at a listener or at none.
type refusal struct {
	route, listener topology.NodeID
	why             string
}

// unattached are the refused routes by Gateway.
func (m *Matcher) unattached() map[topology.NodeID][]refusal {
	if m.refused != nil {
		return m.refused
	}
	m.refused = map[topology.NodeID][]refusal{}
	for _, route := range m.graph.Order(topology.All) {
		if m.graph.Node(route).Role != topology.Route {
			continue
		}
		for _, a := range m.graph.Attachments(route) {
			if a.State == topology.Accepted || a.State == topology.Unknown || a.Listener != topology.None && m.below(a.Listener, route) {
				continue
			}
			for _, gateway := range m.graph.Lookup(a.Parent.WithoutSection()) {
				m.refused[gateway] = append(m.refused[gateway], refusal{route, a.Listener, a.Reason})
			}
		}
	}
	return m.refused
}

// hostsOf are the hostnames of a route.
func hostsOf(n *topology.Node) []string {
	if n.Object == nil {
		return nil
	}
	var out []string
	for _, h := range n.Object.Body.At("spec", "hostnames").Items {
		out = append(out, h.Text())
	}
	return out
}

// forOne reports whether one of the hostnames, or none being given, is for a host.
func forOne(names []string, host string) bool {
	return len(names) == 0 || host == "" || slices.ContainsFunc(names, func(h string) bool { return takes(h, host) })
}

// nearListeners are the listeners that only the hostname, the port or the protocol keeps from taking the request; of those on another port
// the rule that would. Gateways are all, or the one that is asked about.
func (t *trace) nearListeners(w Where) []NearMiss {
	m, r := t.m, t.r
	gateways := m.all()
	if w.Gateway != topology.None {
		gateways = []topology.NodeID{w.Gateway}
	}
	var out []NearMiss
	for _, gateway := range gateways {
		for _, p := range m.listeners(gateway) {
			if w.Listener != "" && m.graph.Node(p.id).Ref.Section != w.Listener || !p.facts.Accepted {
				continue
			}
			miss := NearMiss{Listener: p.id, Rule: topology.None}
			port, protocol := p.facts.Port == r.Port, slices.Contains(r.protocols(), p.facts.Protocol)
			host := len(m.fitting([]entryListener{p}, r.wanted())) > 0
			switch {
			case port && protocol && !host && alikeHosts(p.facts.Hostname, r.wanted()):
				miss.Part, miss.alike = OfHost, likeness(p.facts.Hostname, r.wanted())
				miss.Why = "is for host " + p.facts.Hostname + "; the request has " + r.wanted()
			case !port && protocol && host && p.facts.Port != 0:
				miss.Part, miss.Rule = OfPort, t.ruleAt(gateway, w.Listener, p.facts.Port)
				miss.Why = fmt.Sprintf("is on port %d; the request goes to %d", p.facts.Port, r.Port)
				switch {
				case miss.Rule != topology.None:
					miss.alike = 1
					miss.Why = fmt.Sprintf("takes it on port %d of %s; the request goes to %d", p.facts.Port, m.graph.Node(gateway).Ref, r.Port)
				case p.facts.Hostname == "": // it says nothing about this host
					continue
				}
			case port && !protocol && takes(p.facts.Hostname, r.wanted()):
				miss.Part, miss.Why = OfProtocol, "speaks "+p.facts.Protocol+"; the request wants "+strings.Join(r.protocols(), " or ")
			default:
				continue
			}
			out = append(out, miss)
		}
	}
	return out
}

// ruleAt is the rule that takes the request at another port of a Gateway.
func (t *trace) ruleAt(gateway topology.NodeID, listener string, port int32) topology.NodeID {
	r := *t.r
	r.Port = port
	other, err := t.m.trace(&r, Where{Gateway: gateway, Listener: listener}, t.switches)
	if err != nil {
		return topology.None
	}
	return other.answer.Rule
}
