package request

import (
	"cmp"
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

// nearby looks for what nearly took a request.
type nearby struct {
	*trace
	where Where
}

// nearest are the near misses of a request that nothing takes, nearest first.
func (n nearby) nearest() []NearMiss {
	a := n.answer
	if a.Outcome != NoMatch && a.Assumed != NoMatch || a.Rule != topology.None {
		return nil
	}
	var found []NearMiss
	switch {
	case n.r.From != "":
		found = n.inMesh()
	case a.Gateway != topology.None && n.m.graph.Node(a.Gateway).Object == nil:
	case len(n.places) == 0:
		found = n.listeners()
	default:
		found = n.rules()
		if n.where.Gateway == topology.None { // another Gateway may be meant
			found = append(found, slices.DeleteFunc(n.listeners(), func(o NearMiss) bool { return o.Rule == topology.None })...)
		}
	}
	if likely := slices.DeleteFunc(slices.Clone(found), func(o NearMiss) bool { return o.far }); len(likely) > 0 {
		found = likely
	}
	slices.SortStableFunc(found, func(a, b NearMiss) int {
		return cmp.Or(cmp.Compare(nearness(a.Part), nearness(b.Part)), cmp.Compare(b.alike, a.alike), cmp.Compare(a.Listener, b.Listener), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Why, b.Why))
	})
	var out []NearMiss
	seen := map[topology.NodeID]bool{}
	for _, o := range found {
		about := o.Rule
		if about == topology.None {
			about = o.Listener
		}
		if seen[about] || len(out) == mostNear {
			continue
		}
		seen[about] = true
		out = append(out, o)
	}
	return out
}

func nearness(p Part) int {
	return slices.Index([]Part{OfMethod, OfCall, OfHeader, OfQuery, OfListener, OfAttachment, OfPath, OfHost, OfPort, OfProtocol}, p)
}

// inMesh are the rules of the Service that nearly match.
func (n nearby) inMesh() []NearMiss {
	if n.answer.Listener == topology.None {
		return nil
	}
	service := n.answer.Service
	producers, consumers, _ := n.meshRoutes(n.m.frontends(service, n.m.graph.PortName(service, n.r.Port)), service)
	if len(consumers) > 0 {
		producers = consumers
	}
	return n.nearly(n.answer.Listener, producers)
}

// rules are the rules that nearly match at the listeners that answer, those that match at a less specific one, and those of routes that
// are not attached.
func (n nearby) rules() []NearMiss {
	answering := n.places
	if !n.switches.shared {
		answering = n.m.answering(n.r, n.places)
	}
	var out []NearMiss
	for _, p := range answering {
		kind, host := n.kindAt(p)
		table := n.m.at(p.id)[kind]
		if hasMatches(kind) {
			hostnames(host, func(h string) {
				if b := table[h]; b != nil {
					out = append(out, n.nearly(p.id, b.all())...)
				}
			})
		}
		out = append(out, n.hosts(p.id, table, host)...)
	}
	for _, p := range n.places {
		if slices.ContainsFunc(answering, func(o entryListener) bool { return o.id == p.id }) {
			continue
		}
		kind, host := n.kindAt(p)
		for _, c := range n.matching(n.m.at(p.id)[kind], host) {
			out = append(out, NearMiss{Part: OfListener, Listener: p.id, Rule: c.rule,
				Why: "matches on " + n.m.name(p) + ", but the more specific " + n.m.name(answering[0]) + " answers"})
		}
	}
	return append(out, n.unattached(answering)...)
}

// kindAt is the kind of routes that is looked for at a listener, and the name that their hostnames are for.
func (n nearby) kindAt(p entryListener) (kind, host string) {
	switch {
	case p.facts.Protocol == "TLS":
		return "TLSRoute", n.r.SNI
	case p.facts.Protocol == "TCP", p.facts.Protocol == "UDP":
		return p.facts.Protocol + "Route", ""
	case n.r.Protocol == GRPC && len(n.m.at(p.id)["GRPCRoute"]) > 0:
		return "GRPCRoute", n.r.Host
	}
	return "HTTPRoute", n.r.Host
}

// matching are the candidates of a table that hold for the request, best first.
func (n nearby) matching(of table, host string) []candidate {
	probe := trace{m: n.m, r: n.r, switches: n.switches}
	of.near(n.r, host, probe.hold)
	probe.order()
	return probe.sure
}

// nearly are the candidates that one part alone keeps from matching.
func (n nearby) nearly(place topology.NodeID, cs []candidate) []NearMiss {
	var out []NearMiss
	for i := range cs {
		c := &cs[i]
		if c.match == nil || c.open != "" {
			continue
		}
		part, why, alike := c.match.misses(n.r, !n.switches.loose)
		if part != "" {
			far := part == OfPath && (c.match.path.form == expression || !alikePaths(c.match.path.value, n.r.Path))
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

// hosts are the best rules that match for hostnames that look like the request's.
func (n nearby) hosts(place topology.NodeID, of table, host string) []NearMiss {
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
		found := n.matching(table{"": of[h]}, "")
		if len(found) > 0 {
			out = append(out, NearMiss{Part: OfHost, Listener: place, Rule: found[0].rule, alike: likeness(h, host), Why: "is for host " + h + "; the request has " + host})
		}
		if len(out) == mostNear {
			break
		}
	}
	return out
}
