package request

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Where is what a request is sent to, beside its URL.
type Where struct {
	Gateway  topology.NodeID // None: the one with a listener for the request
	Listener string          // "": the one that the request leads to
}

// Find tells what becomes of a request (gatewayapi §4). The error is an *AmbiguousError if several Gateways could be meant.
func (m *Matcher) Find(r Request, w Where) (*Answer, error) {
	s := readSwitches(m.settings)
	t, err := m.trace(&r, w, &s)
	if err != nil {
		return nil, err
	}
	a := t.answer
	t.explain()
	unusual(a)
	m.alternatives(t, w)
	m.untidy(t, w)
	m.withheld(a)
	t.beside()
	t.foreignListeners(w)
	a.Near = nearby{t, w}.nearest()
	a.Problems = model.SortProblems(append(a.Problems, m.faults...))
	return a, nil
}

// FindAll is Find for a request that several Gateways could take: an answer for each of them, by their names.
func (m *Matcher) FindAll(r Request, w Where) ([]*Answer, error) {
	one, err := m.Find(r, w)
	var several *AmbiguousError
	if !errors.As(err, &several) {
		return []*Answer{one}, err
	}
	var out []*Answer
	for _, id := range m.gateways(&r, w.Listener) {
		w.Gateway = id
		if one, err = m.Find(r, w); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// trace is a request on its way.
type trace struct {
	m        *Matcher
	r        *Request
	switches *switches
	answer   *Answer
	places   []entryListener // the listeners that fit, most specific first
	sure     []candidate     // that match at the place that answers, best first
	unsure   []candidate     // of which that is not known

	how       Tidying
	dotOpen   bool            // it is not known whether a dot at the end of the host counts
	answering []entryListener // those of places that may answer, the first with a rule for the request does

	tied      bool   // names alone put the best one first
	compared  bool   // the path is what the implementation compares
	turned    bool   // the path alone had it answered
	delegated string // why the rule that takes the request is not the last word; "" if it is
}

func (m *Matcher) trace(r *Request, w Where, s *switches) (*trace, error) {
	return follow(m, r, w, s, false)
}

// follow follows a request; compared: its path is what the implementation compares already.
func follow(m *Matcher, r *Request, w Where, s *switches, compared bool) (*trace, error) {
	t := m.spare
	if m.spare = nil; t == nil {
		t = &trace{}
	}
	t.m, t.switches, t.how, t.compared = m, s, nothingKnown(), compared
	t.answer = &Answer{Request: *r, Outcome: NoMatch, Gateway: w.Gateway, Listener: topology.None, Route: topology.None, Rule: topology.None}
	t.r = &t.answer.Request
	if r.From != "" {
		own := *r
		t.r = &own
		t.mesh()
		return t, nil
	}
	if w.Gateway == topology.None {
		switch found := m.gateways(r, w.Listener); len(found) {
		case 0:
			what := strings.Join(r.protocols(), " or ") + " on port " + fmt.Sprint(r.Port)
			if r.wanted() != "" {
				what += " for " + r.wanted()
			}
			t.because("no Gateway has a listener for it: " + what)
			t.mayHaveListener()
			return t, nil
		case 1:
			t.answer.Gateway = found[0]
		default:
			e := &AmbiguousError{}
			for _, id := range found {
				e.Gateways = append(e.Gateways, m.graph.Node(id).Ref)
			}
			return nil, e
		}
	}
	t.gateway(w)
	return t, nil
}

func (t *trace) because(why string) { t.answer.Why = append(t.answer.Why, why) }

// notFound is the status of an answer for which there is no rule; 0 where no HTTP is spoken.
func (t *trace) notFound() int {
	if t.speaksHTTP() {
		return 404
	}
	return 0
}

// speaksHTTP reports whether the Gateway can answer with a status. A listener that takes the connection as TLS can only close it.
func (t *trace) speaksHTTP() bool {
	id := t.answer.Listener
	passed := id != topology.None && t.m.graph.Node(id).Role == topology.Listener && t.m.graph.Listener(id).Protocol == "TLS"
	return t.r.Protocol == HTTP && !passed
}

// gateway finds the listener and the rule at a Gateway.
func (t *trace) gateway(w Where) {
	m, a := t.m, t.answer
	if m.graph.Node(a.Gateway).Object == nil {
		a.conditional(m.graph.Node(a.Gateway).Ref.String() + " may not be read")
		return
	}
	t.hostDot()
	r := t.r
	open, refused, places := m.arrived.at(m, r, a.Gateway, w.Listener)
	t.places = places
	if isAddress(r.Address) && r.SNI != r.Address && r.wanted() == r.SNI && r.SNI == r.Host {
		t.because("the server name is taken to be the Host, because the connection is to an address")
	}
	defer t.openListeners(m.undecided(r, a.Gateway, w.Listener))
	if len(t.places) == 0 {
		t.because(m.nowhere(r, a.Gateway, open, refused))
		if len(open) > 0 && !r.Secure {
			a.Status = t.notFound()
		}
		return
	}
	a.Listener = t.places[0].id
	everywhere := open
	if w.Listener != "" {
		everywhere, _ = m.port(r, a.Gateway, "")
	}
	if outcome, why := m.misdirected(r, t.places[0], everywhere); outcome != "" {
		a.Outcome, a.Status = outcome, 404
		if outcome == Misdirected {
			a.Status = 421
		}
		t.because(why)
		return
	}
	if t.tidy(t.places[0]) {
		return
	}
	answering := t.places
	if !t.switches.shared {
		answering = m.answering(r, t.places)
		a.Listener = answering[0].id
	}
	t.answering = answering
	for _, p := range answering {
		t.candidates(p)
		if len(t.sure)+len(t.unsure) > 0 {
			a.Listener = p.id
			break
		}
	}
	if len(t.sure) == 0 {
		t.missed(answering)
		return
	}
	t.choose()
}

// openListeners makes the answer conditional if a listener of which it is not known whether it takes part would answer instead.
func (t *trace) openListeners(undecided []entryListener) {
	for _, p := range undecided {
		if len(t.places) > 0 && specificity(t.places[0].facts.Hostname) >= specificity(p.facts.Hostname) {
			continue
		}
		set := t.m.graph.Lookup(t.m.graph.Node(p.id).Ref.WithoutSection())[0]
		t.answer.conditional(t.m.name(p) + " may answer instead: " + t.m.graph.Set(set).Reason)
	}
	if len(t.places) > 0 && t.places[0].facts.Refused.Message != "" {
		t.answer.conditional("whether " + t.m.name(t.places[0]) + " takes traffic is not known: " + t.places[0].facts.Refused.Message)
	}
}

// candidates are the matches of the routes at a listener, best first.
func (t *trace) candidates(p entryListener) {
	kind, host := "HTTPRoute", t.r.Host
	switch {
	case p.facts.Protocol == "TLS":
		kind, host = "TLSRoute", t.r.SNI
	case p.facts.Protocol == "TCP", p.facts.Protocol == "UDP":
		kind, host = p.facts.Protocol+"Route", ""
	case t.r.Protocol == TLS:
		return // the listener wants HTTP, of which nothing is known
	case t.r.Protocol == GRPC:
		kind = grpcKind(t, p)
	}
	t.m.at(p.id)[kind].near(t.r, host, t.hold)
	if p.facts.Protocol == "TLS" { // where the implementation takes them there, they are for every name of the listener
		t.m.at(p.id)["TCPRoute"].near(t.r, "", t.hold)
	}
	t.order()
}

// grpcKind is the kind of routes that decide about a gRPC request: GRPCRoutes if one is for the host, else HTTPRoutes, which see it as the
// POST that it is. Where both are for the host, implementations differ (gatewayapi G57).
func grpcKind(t *trace, p entryListener) string {
	at := t.m.at(p.id)
	grpc, http := at["GRPCRoute"].covers(t.r.Host), at["HTTPRoute"].covers(t.r.Host)
	if grpc && http {
		t.answer.note(model.Info, model.NotEvaluated, nil,
			fmt.Sprintf("HTTPRoutes and GRPCRoutes are for host %s on %s: GRPCRoutes are assumed to win; implementations may reject the newer route", t.r.Host, t.m.name(p)), "give each kind a hostname of its own")
	}
	if !grpc && http {
		t.because("no GRPCRoute is for host " + t.r.Host + ", so HTTPRoutes decide: a gRPC request is a POST to " + t.r.Path)
		return "HTTPRoute"
	}
	return "GRPCRoute"
}

// hold takes those of the candidates that hold for the request; those of which that is not known are told apart.
func (t *trace) hold(cs []candidate) {
	for _, c := range cs {
		v := yes
		if c.match != nil {
			v = c.match.holds(t.r, !t.switches.loose)
		}
		switch {
		case v == no:
		case v == yes && c.open == "":
			t.sure = append(t.sure, c)
		default:
			t.unsure = append(t.unsure, c)
		}
	}
}

// order puts the best candidates first.
func (t *trace) order() {
	t.switches.sort(t.sure)
	t.switches.sort(t.unsure)
}

// missed answers where no rule matches.
func (t *trace) missed(answering []entryListener) {
	a := t.answer
	a.Status = t.notFound()
	chosen := answering[0]
	switch {
	case t.r.Protocol == TLS && chosen.facts.Protocol == "HTTPS":
		t.because("the server name leads to " + t.m.name(chosen) + ", which takes HTTP only")
	case len(answering) > 1:
		t.because("no rule matches on any of the " + fmt.Sprint(len(answering)) + " listeners that fit")
	case len(t.m.at(chosen.id)) == 0:
		t.because("no route is attached to " + t.m.name(chosen) + t.isolated())
	case !t.m.covered(chosen.id, t.r):
		t.because("no route on " + t.m.name(chosen) + " is for " + t.r.Host + t.isolated())
	default:
		t.because("no rule on " + t.m.name(chosen) + " matches" + t.isolated())
	}
	t.openEnds(nil)
}

// isolated says that a less specific listener does not step in.
func (t *trace) isolated() string {
	if len(t.places) < 2 {
		return ""
	}
	return "; " + t.m.name(t.places[1]) + " is not used, because only the most specific listener answers"
}

// choose takes the best candidate and says what becomes of the request by its rule.
func (t *trace) choose() {
	a, best := t.answer, &t.sure[0]
	a.Route, a.Rule = best.route, best.rule
	if best.match != nil && !best.match.grpc && best.match.path.form == prefix {
		a.Prefix = best.match.path.value
	}
	seen := map[topology.NodeID]bool{best.route: true}
	for i := range t.sure {
		if c := &t.sure[i]; !seen[c.route] {
			seen[c.route] = true
			a.Shadowed = append(a.Shadowed, t.m.graph.Node(c.rule).Ref)
		}
	}
	t.rule()
	t.openEnds(best)
	t.expressions(best)
	t.listenerFilters()
	t.uncertain()
}
