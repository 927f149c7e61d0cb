package request

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Destination is what a request is sent to, beside its URL.
type Destination struct {
	Gateway  topology.NodeID // None: the one with a listener for the request
	Listener string          // "": the one that the request leads to
}

// Find tells what becomes of a request. The error is an *AmbiguousError if several Gateways could
// be meant.
func (m *Matcher) Find(r Request, w Destination) (*Answer, error) {
	s := readMatchSettings(m.settings)
	t, err := m.traceRequest(&r, w, &s)
	if err != nil {
		return nil, err
	}
	a := t.answer
	t.explainChoice()
	noteRepeated(a)
	m.checkAlternatives(t, w)
	m.checkNormalization(t, w)
	m.checkForbidden(a)
	t.checkUnreadInputs()
	t.checkForeignListeners(w)
	a.NearMisses = nearMissFinder{t, w}.findNearest()
	a.Problems = model.SortProblems(append(a.Problems, m.problems...))
	return a, nil
}

// FindAll is Find for a request that several Gateways could take: an answer for each of them, by
// their names.
func (m *Matcher) FindAll(r Request, w Destination) ([]*Answer, error) {
	one, err := m.Find(r, w)
	var several *AmbiguousError
	if !errors.As(err, &several) {
		return []*Answer{one}, err
	}
	var out []*Answer
	for _, id := range m.findGateways(&r, w.Listener) {
		w.Gateway = id
		if one, err = m.Find(r, w); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// trace is the search for the rule that takes a request.
type trace struct {
	matcher          *Matcher
	request          *Request
	settings         *matchSettings
	answer           *Answer
	fittingListeners []entryListener // the listeners that fit, most specific first
	sure             []candidate     // that match at the place that answers, best first
	unsure           []candidate     // of which that is not known

	normalization      normalize.Rules
	hostDotUnknown     bool            // it is not known whether a dot at the end of the host counts
	answeringListeners []entryListener // those of places that may answer, the first with a rule for the request does

	orderUncertain bool   // only names put the best candidate first
	normalized     bool   // the path is what the implementation compares
	answeredByPath bool   // it was answered because of its path alone
	delegation     string // why routes that the rule delegates to may decide; "" if none do
}

func (m *Matcher) traceRequest(r *Request, w Destination, s *matchSettings) (*trace, error) {
	return runTrace(m, r, w, s, false)
}

// runTrace searches the rule for a request. normalized: its path is what the implementation
// compares already.
func runTrace(m *Matcher, r *Request, w Destination, s *matchSettings, compared bool) (*trace, error) {
	t := m.spareTrace
	if m.spareTrace = nil; t == nil {
		t = &trace{}
	}
	t.matcher, t.settings, t.normalization, t.normalized = m, s, normalize.UnknownRules(), compared
	t.answer = &Answer{Request: *r, Outcome: NoMatch, Gateway: w.Gateway, Listener: topology.None,
		Route: topology.None, Rule: topology.None}
	t.request = &t.answer.Request
	if r.From != "" {
		own := *r
		t.request = &own
		t.findInMesh()
		return t, nil
	}
	if w.Gateway == topology.None {
		switch found := m.findGateways(r, w.Listener); len(found) {
		case 0:
			what := strings.Join(r.listenerProtocols(), " or ") + " on port " + fmt.Sprint(r.Port)
			if r.wantedName() != "" {
				what += " for " + r.wantedName()
			}
			t.addReason("no Gateway has a listener for it: " + what)
			t.dependOnAbsentGateways()
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
	t.findAtGateway(w)
	return t, nil
}

func (t *trace) addReason(why string) { t.answer.Why = append(t.answer.Why, why) }

// notFoundStatus returns the status of an answer for which there is no rule; 0 where no HTTP is
// spoken.
func (t *trace) notFoundStatus() int {
	if t.canAnswerHTTP() {
		return 404
	}
	return 0
}

// canAnswerHTTP reports whether the Gateway can answer with a status. A listener that takes the
// connection as TLS can only close it.
func (t *trace) canAnswerHTTP() bool {
	id := t.answer.Listener
	passed := id != topology.None && t.matcher.graph.Node(id).Role == topology.Listener &&
		t.matcher.graph.Listener(id).Protocol == "TLS"
	return t.request.Protocol == HTTP && !passed
}

// findAtGateway finds the listener and the rule at a Gateway.
func (t *trace) findAtGateway(w Destination) {
	m, a := t.matcher, t.answer
	if m.graph.Node(a.Gateway).Object == nil {
		a.makeRuleUncertain(m.graph.Node(a.Gateway).Ref.String() + " is forbidden")
		return
	}
	t.dropHostDot()
	r := t.request
	open, refused, places := m.lastArrival.findListeners(m, r, a.Gateway, w.Listener)
	t.fittingListeners = places
	if isAddress(r.Address) && r.SNI != r.Address && r.wantedName() == r.SNI && r.SNI == r.Host {
		t.addReason("the server name is taken to be the Host, because the connection is to an address")
	}
	defer t.checkUndecidedListeners(m.undecidedListeners(r, a.Gateway, w.Listener))
	if len(t.fittingListeners) == 0 {
		t.addReason(m.explainNoListener(r, a.Gateway, open, refused))
		if len(open) > 0 && !r.Secure {
			a.Status = t.notFoundStatus()
		}
		return
	}
	a.Listener = t.fittingListeners[0].id
	everywhere := open
	if w.Listener != "" {
		everywhere, _ = m.listenersOnPort(r, a.Gateway, "")
	}
	if outcome, why := m.checkMisdirected(r, t.fittingListeners[0], everywhere); outcome != "" {
		a.Outcome, a.Status = outcome, 404
		if outcome == Misdirected {
			a.Status = 421
		}
		t.addReason(why)
		return
	}
	if t.normalizePath(t.fittingListeners[0]) {
		return
	}
	answering := t.fittingListeners
	if !t.settings.sharedListeners {
		answering = m.chooseListener(r, t.fittingListeners)
		a.Listener = answering[0].id
	}
	t.answeringListeners = answering
	for _, p := range answering {
		t.collectCandidates(p)
		if len(t.sure)+len(t.unsure) > 0 {
			a.Listener = p.id
			break
		}
	}
	if len(t.sure) == 0 {
		t.answerNoMatch(answering)
		return
	}
	t.chooseBest()
}

// checkUndecidedListeners makes the rule uncertain if a listener of which it is not known whether
// it takes part would answer instead.
func (t *trace) checkUndecidedListeners(undecided []entryListener) {
	for _, p := range undecided {
		if len(t.fittingListeners) > 0 &&
			rankHostname(t.fittingListeners[0].facts.Hostname) >= rankHostname(p.facts.Hostname) {
			continue
		}
		set := t.matcher.graph.Lookup(t.matcher.graph.Node(p.id).Ref.WithoutSection())[0]
		t.answer.makeRuleUncertain(t.matcher.listenerName(p) + " may answer instead: " +
			t.matcher.graph.ListenerSet(set).Reason)
	}
	if len(t.fittingListeners) > 0 && t.fittingListeners[0].facts.Refused.Message != "" {
		t.answer.makeRuleUncertain("cannot tell whether " + t.matcher.listenerName(t.fittingListeners[0]) +
			" takes traffic: " + t.fittingListeners[0].facts.Refused.Message)
	}
}

// collectCandidates collects the matches of the routes at a listener, best first.
func (t *trace) collectCandidates(p entryListener) {
	kind, host := "HTTPRoute", t.request.Host
	switch {
	case p.facts.Protocol == "TLS":
		kind, host = "TLSRoute", t.request.SNI
	case p.facts.Protocol == "TCP", p.facts.Protocol == "UDP":
		kind, host = p.facts.Protocol+"Route", ""
	case t.request.Protocol == TLS:
		return // the listener wants HTTP, of which nothing is known
	case t.request.Protocol == GRPC:
		kind = findGRPCKind(t, p)
	}
	t.matcher.findIndex(p.id)[kind].eachCandidate(t.request, host, t.filterCandidates)
	if p.facts.Protocol == "TLS" { // where the implementation takes them there, they are for every name of the listener
		t.matcher.findIndex(p.id)["TCPRoute"].eachCandidate(t.request, "", t.filterCandidates)
	}
	t.sortCandidates()
}

// findGRPCKind returns the kind of routes that decide about a gRPC request: GRPCRoutes if one is
// for the host, else HTTPRoutes, which see it as the POST that it is. Where both are for the host,
// implementations differ (gatewayapi G57).
func findGRPCKind(t *trace, p entryListener) string {
	at := t.matcher.findIndex(p.id)
	grpc, http := at["GRPCRoute"].hasHost(t.request.Host), at["HTTPRoute"].hasHost(t.request.Host)
	if grpc && http {
		t.answer.addProblem(model.Info, model.NotEvaluated, nil,
			fmt.Sprintf(
				"HTTPRoutes and GRPCRoutes are for host %s on %s: GRPCRoutes are assumed to win; implementations may reject the newer route", t.request.Host, t.matcher.listenerName(p)), "give each kind a hostname of its own")
	}
	if !grpc && http {
		t.addReason("no GRPCRoute is for host " + t.request.Host +
			", so HTTPRoutes decide: a gRPC request is a POST to " + t.request.Path)
		return "HTTPRoute"
	}
	return "GRPCRoute"
}

// filterCandidates keeps the candidates that hold for the request, and apart from them those of
// which that is not known.
func (t *trace) filterCandidates(cs []candidate) {
	for _, c := range cs {
		v := yes
		if c.match != nil {
			v = c.match.matchRequest(t.request, !t.settings.unanchored)
		}
		switch {
		case v == no:
		case v == yes && c.openReason == "":
			t.sure = append(t.sure, c)
		default:
			t.unsure = append(t.unsure, c)
		}
	}
}

// sortCandidates puts the best candidates first.
func (t *trace) sortCandidates() {
	t.settings.sortCandidates(t.sure)
	t.settings.sortCandidates(t.unsure)
}

// answerNoMatch answers where no rule matches.
func (t *trace) answerNoMatch(answering []entryListener) {
	a := t.answer
	a.Status = t.notFoundStatus()
	chosen := answering[0]
	switch {
	case t.request.Protocol == TLS && chosen.facts.Protocol == "HTTPS":
		t.addReason("the server name leads to " + t.matcher.listenerName(chosen) + ", which takes HTTP only")
	case len(answering) > 1:
		t.addReason("no rule matches on any of the " + fmt.Sprint(len(answering)) + " listeners that fit")
	case len(t.matcher.findIndex(chosen.id)) == 0:
		t.addReason("no route is attached to " + t.matcher.listenerName(chosen) + t.isolationNote())
	case !t.matcher.hasRouteForHost(chosen.id, t.request):
		t.addReason("no route on " + t.matcher.listenerName(chosen) + " is for " + t.request.Host + t.isolationNote())
	default:
		t.addReason("no rule on " + t.matcher.listenerName(chosen) + " matches" + t.isolationNote())
	}
	t.checkUnsureCandidates(nil)
}

// isolationNote says that a less specific listener is not used.
func (t *trace) isolationNote() string {
	if len(t.fittingListeners) < 2 {
		return ""
	}
	return "; " + t.matcher.listenerName(t.fittingListeners[1]) +
		" is not used, because only the most specific listener answers"
}

// chooseBest takes the best candidate and says what becomes of the request by its rule.
func (t *trace) chooseBest() {
	a, best := t.answer, &t.sure[0]
	a.Route, a.Rule = best.route, best.rule
	if best.match != nil && !best.match.grpc && best.match.path.form == prefix {
		a.Prefix = best.match.path.value
	}
	seen := map[topology.NodeID]bool{best.route: true}
	for i := range t.sure {
		if c := &t.sure[i]; !seen[c.route] {
			seen[c.route] = true
			a.Shadowed = append(a.Shadowed, t.matcher.graph.Node(c.rule).Ref)
		}
	}
	t.applyRule()
	t.checkUnsureCandidates(best)
	t.checkExpressions(best)
	t.checkListenerFilters()
	t.checkOrder()
}
