package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request/spelling"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Part is a part of a request, or of where it goes, that kept a rule or a listener from taking it.
type Part string

// The parts, the nearest first. OfListener: a more specific listener answers. OfAttachment: the
// route is not attached where the request arrives.
const (
	PartMethod     Part = "method"
	PartCall       Part = "grpc"
	PartHeader     Part = "header"
	PartQuery      Part = "query"
	PartPath       Part = "path"
	PartListener   Part = "listener"
	PartAttachment Part = "attachment"
	PartHost       Part = "host"
	PartPort       Part = "port"
	PartProtocol   Part = "protocol"
)

// NearMiss is a rule or a listener that one part alone kept from taking a request.
type NearMiss struct {
	Part     Part
	Listener topology.NodeID // where the request arrives, or would
	Rule     topology.NodeID // None: it is known of the listener only
	Why      string          // what it wants, and what the request has

	similarity int  // how much of the wanted text the request has; more is nearer
	difference int  // how much longer or shorter the wanted text is; less is nearer
	unlikely   bool // the path has nothing in common with the wanted one
}

// mostNearMisses is how many near misses an answer has.
const mostNearMisses = 3

// nearMissFinder looks for what nearly took a request.
type nearMissFinder struct {
	*trace
	destination Destination
}

// findNearest returns the near misses of a request that nothing takes, nearest first.
func (n nearMissFinder) findNearest() []NearMiss {
	a := n.answer
	if a.Outcome != NoMatch && a.Assumed != NoMatch || a.Rule != topology.None {
		return nil
	}
	var found []NearMiss
	switch {
	case n.request.From != "":
		found = n.listMeshMisses()
	case a.Gateway != topology.None && n.matcher.graph.Node(a.Gateway).Object == nil:
	case len(n.fittingListeners) == 0:
		found = n.listListenerMisses()
	default:
		found = n.listRuleMisses()
		if n.destination.Gateway == topology.None { // another Gateway may be meant
			found = append(found, slices.DeleteFunc(n.listListenerMisses(),
				func(o NearMiss) bool { return o.Rule == topology.None })...)
		}
	}
	if likely := slices.DeleteFunc(slices.Clone(found), func(o NearMiss) bool { return o.unlikely }); len(likely) > 0 {
		found = likely
	}
	slices.SortStableFunc(found, func(a, b NearMiss) int {
		return cmp.Or(cmp.Compare(rankPart(a.Part), rankPart(b.Part)), cmp.Compare(b.similarity, a.similarity),
			cmp.Compare(a.difference, b.difference), cmp.Compare(a.Listener, b.Listener),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Why, b.Why))
	})
	var out []NearMiss
	seen := map[topology.NodeID]bool{}
	for _, o := range found {
		about := o.Rule
		if about == topology.None {
			about = o.Listener
		}
		if seen[about] || len(out) == mostNearMisses {
			continue
		}
		seen[about] = true
		out = append(out, o)
	}
	return out
}

func rankPart(p Part) int {
	return slices.Index([]Part{PartMethod, PartCall, PartHeader, PartQuery, PartListener, PartAttachment, PartPath,
		PartHost, PartPort, PartProtocol}, p)
}

// listMeshMisses returns the rules of the Service that nearly match.
func (n nearMissFinder) listMeshMisses() []NearMiss {
	if n.answer.Listener == topology.None {
		return nil
	}
	service := n.answer.Service
	producers, consumers, _ := n.meshCandidates(n.matcher.findFrontends(service, n.matcher.graph.PortName(service,
		n.request.Port)), service)
	if len(consumers) > 0 {
		producers = consumers
	}
	return n.listPartMisses(n.answer.Listener, producers)
}

// listRuleMisses returns the rules that nearly match at the listeners that answer, those that match
// at a less specific one, and those of routes that are not attached.
func (n nearMissFinder) listRuleMisses() []NearMiss {
	var answering []entryListener
	for _, table := range n.answeringTables {
		answering = append(answering, table...)
	}
	if answering == nil { // it was answered before any rule was looked for
		answering = n.fittingListeners[:1]
	}
	var out []NearMiss
	for _, p := range answering {
		kind, host := n.kindAt(p)
		table := n.matcher.findIndex(p.id)[kind]
		if hasMatches(kind) {
			eachHostname(host, func(h string) {
				if b := table[h]; b != nil {
					out = append(out, n.listPartMisses(p.id, b.listCandidates())...)
				}
			})
		}
		out = append(out, n.listHostMisses(p.id, table, host)...)
	}
	for _, p := range n.fittingListeners {
		if slices.ContainsFunc(answering, func(o entryListener) bool { return o.id == p.id }) {
			continue
		}
		kind, host := n.kindAt(p)
		for _, c := range n.findMatching(n.matcher.findIndex(p.id)[kind], host) {
			out = append(out, NearMiss{Part: PartListener, Listener: p.id, Rule: c.rule,
				Why: "matches on " + n.matcher.listenerName(p) + ", but the more specific " +
					n.matcher.listenerName(answering[0]) + " answers"})
		}
	}
	return append(out, n.listUnattachedMisses(answering)...)
}

// kindAt returns the kind of routes that is looked for at a listener, and the name that their
// hostnames are for.
func (n nearMissFinder) kindAt(p entryListener) (kind, host string) {
	switch {
	case p.facts.Protocol == "TLS":
		return "TLSRoute", n.request.SNI
	case p.facts.Protocol == "TCP", p.facts.Protocol == "UDP":
		return p.facts.Protocol + "Route", ""
	case n.request.Protocol == GRPC && len(n.matcher.findIndex(p.id)["GRPCRoute"]) > 0:
		return "GRPCRoute", n.request.Host
	}
	return "HTTPRoute", n.request.Host
}

// findMatching returns the candidates of a table that hold for the request, best first.
func (n nearMissFinder) findMatching(of hostTable, host string) []candidate {
	probe := trace{matcher: n.matcher, request: n.request, settings: n.settings}
	eachHostname(host, func(name string) {
		if b := of[name]; b != nil {
			b.eachCandidate(n.request, n.settings, probe.filterCandidates)
		}
	})
	probe.sortCandidates()
	return probe.sure
}

// listPartMisses returns the candidates that one part alone keeps from matching.
func (n nearMissFinder) listPartMisses(place topology.NodeID, cs []candidate) []NearMiss {
	var out []NearMiss
	for i := range cs {
		c := &cs[i]
		if c.match == nil || c.openReason != "" {
			continue
		}
		part, why, alike := n.settings.findMiss(c, n.request)
		if part != "" {
			far := part == PartPath && (c.match.path.form == expression ||
				!spelling.IsSimilarPath(c.match.path.value, n.request.Path))
			longer := 0
			if part == PartPath {
				longer = max(len(c.match.path.value), len(n.request.Path)) - min(len(c.match.path.value),
					len(n.request.Path))
			}
			out = append(out, NearMiss{Part: part, Listener: place, Rule: c.rule, Why: why, similarity: alike,
				difference: longer, unlikely: far})
		}
	}
	return out
}

// findMiss returns the one part of a request that keeps it from a match, with what the match wants;
// "" if it is none or more than one.
func (s *matchSettings) findMiss(c *candidate, r *Request) (part Part, why string, alike int) {
	type miss struct {
		part  Part
		wants string
		has   string
	}
	m := c.match
	var all []miss
	values := func(part Part, list []valueMatch, get func(string) []string, of routing.Values) {
		for i := range list {
			v := &list[i]
			if has := get(v.name); v.matchTexts(has, of, s.Regex.HeaderTied) == no {
				all = append(all, miss{part, v.formatText(), cmp.Or(strings.Join(has, ", "), "none")})
			}
		}
	}
	if s.asksForPath(m) {
		if path := c.pathMatch(s); s.matchPath(&path, r.Path) == no {
			all, alike = append(all, miss{PartPath, path.formatText(), r.Path}), spelling.CountSimilar(path.value,
				r.Path)
		}
		if m.method != "" && m.method != r.Method && !s.Ignores(routing.IgnoredMethod) {
			all = append(all, miss{PartMethod, "method " + m.method, r.Method})
		}
		if !s.Ignores(routing.IgnoredQuery) {
			values(PartQuery, s.queryOf(m), func(name string) []string { return s.parameterValues(r, name) }, s.Query)
		}
	} else if min(m.service.matchTexts([]string{r.Service}, routing.FirstValue, s.Regex.Tied),
		m.call.matchTexts([]string{r.Call}, routing.FirstValue, s.Regex.Tied)) == no {
		bare := match{grpc: true, service: m.service, call: m.call}
		all, alike = append(all, miss{PartCall, bare.formatText(), r.Service + "/" + r.Call}),
			spelling.CountSimilar(m.service.value+"/"+m.call.value, r.Service+"/"+r.Call)
	}
	values(PartHeader, m.headers, r.headerValues, s.Headers)
	if len(all) == 0 || slices.ContainsFunc(all, func(o miss) bool { return o.part != all[0].part }) {
		return "", "", 0
	}
	var wants, has []string
	for _, o := range all {
		wants, has = append(wants, o.wants), append(has, o.has)
	}
	text := strings.Join(wants, ", ")
	if part = all[0].part; part == PartHeader || part == PartQuery {
		text = string(part) + " " + text
	}
	return part, "needs " + text + "; the request has " + strings.Join(has, ", "), alike
}

// listHostMisses returns the best rules that match for hostnames that look like the request's.
func (n nearMissFinder) listHostMisses(place topology.NodeID, of hostTable, host string) []NearMiss {
	if host == "" {
		return nil
	}
	var names []string
	for h := range of {
		if h != "" && !isForHost(h, host) && spelling.IsSimilarHost(h, host) {
			names = append(names, h)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(spelling.CountSimilar(b, host), spelling.CountSimilar(a, host)),
			strings.Compare(a, b))
	})
	var out []NearMiss
	for _, h := range names {
		found := n.findMatching(hostTable{"": of[h]}, "")
		if len(found) > 0 {
			out = append(out, NearMiss{Part: PartHost, Listener: place, Rule: found[0].rule,
				similarity: spelling.CountSimilar(h, host), Why: "is for host " + h + "; the request has " + host})
		}
		if len(out) == mostNearMisses {
			break
		}
	}
	return out
}
