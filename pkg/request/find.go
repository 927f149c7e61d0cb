package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
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
	t, err := m.traceRequest(&r, w, nil)
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
	m.noteImplementations(t, w)
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

	normalization   normalize.Rules
	hostDotUnknown  bool         // it is not known whether a dot at the end of the host counts
	answeringTables []routeTable // that may answer, the first with a rule for the request does
	onPath          []candidate  // of which the path holds, whatever else their matches ask for

	ownAddresses   []servedHost // for the host, where each route has an address of its own
	shadowing      bool         // the candidates are those of one virtual host, which decides alone
	virtualHost    string       // its hostname; "": of every host
	openHost       string       // why another virtual host may decide; "": none may
	committedTo    string       // the path that was chosen, of which no match holds; "": that is not why nothing matches
	guarded        string       // why a redirect is no candidate; "": none was left out
	orderUncertain bool         // only names put the best candidate first
	normalized     bool         // the path is what the implementation compares
	answeredByPath bool         // it was answered because of its path alone
	delegation     string       // why routes that the rule delegates to may decide; "" if none do
}

func (m *Matcher) traceRequest(r *Request, w Destination, s *matchSettings) (*trace, error) {
	return runTrace(m, r, w, s, false)
}

// runTrace searches the rule for a request, by settings or, if they are nil, by those of the data
// plane that it comes to. compared: its path is what the implementation compares already.
func runTrace(m *Matcher, r *Request, w Destination, s *matchSettings, compared bool) (*trace, error) {
	t := m.spareTrace
	if m.spareTrace = nil; t == nil {
		t = &trace{}
	}
	t.matcher, t.settings, t.normalization, t.normalized = m, s, normalize.UnknownRules(), compared
	if s == nil && w.Gateway != topology.None {
		t.settings = m.settingsAt(w.Gateway)
	}
	t.answer = &Answer{Request: *r, Outcome: NoMatch, Gateway: w.Gateway, Listener: topology.None,
		Route: topology.None, Rule: topology.None}
	t.request = &t.answer.Request
	if r.From != "" {
		own := *r
		t.request = &own
		t.useDefaultSettings()
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
			t.useDefaultSettings()
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
	if t.settings == nil {
		t.settings = m.settingsAt(t.answer.Gateway)
	}
	t.findAtGateway(w)
	return t, nil
}

func (t *trace) addReason(why string) { t.answer.Why = append(t.answer.Why, why) }

// useDefaultSettings takes the settings that hold where no data plane is known.
func (t *trace) useDefaultSettings() {
	if t.settings == nil {
		t.settings = t.matcher.settingsAt(topology.None)
	}
}

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
	if t.settings.Listeners.Share == routing.ShareClass && (r.Protocol == HTTP || r.Protocol == GRPC) {
		open = m.listOpenInClass(r, a.Gateway, w.Listener)
	}
	byHost := r.Secure && t.settings.SNI == routing.SNIHost && (r.Protocol == HTTP || r.Protocol == GRPC)
	unknownName := r.Secure && t.settings.SNI == routing.SNIUnknown && r.Host != r.SNI && len(places) == 0
	if byHost || unknownName { // the certificate of another listener is shown if need be
		t.fittingListeners = filterByHost(open, r.Host)
	}
	if isAddress(r.Address) && r.SNI != r.Address && r.wantedName() == r.SNI && r.SNI == r.Host {
		t.addReason("the server name is taken to be the Host, because the connection is to an address")
	}
	defer t.checkUndecidedListeners(m.undecidedListeners(r, a.Gateway, w.Listener))
	table := m.findTable(r, a.Gateway, w.Listener, t.fittingListeners, t.settings)
	if len(open) > 0 && len(t.fittingListeners) == 0 && len(table) > 0 &&
		(!r.Secure || byHost || unknownName || r.Host == r.SNI) {
		t.fittingListeners = table // of another port or Gateway, whose routes are for every one
	}
	if len(t.fittingListeners) == 0 {
		t.addReason(m.explainNoListener(r, a.Gateway, open, refused))
		if len(open) > 0 && (!r.Secure || byHost) {
			a.Status = t.notFoundStatus()
		}
		return
	}
	a.Listener = t.fittingListeners[0].id
	everywhere := open
	if w.Listener != "" {
		everywhere, _ = m.listenersOnPort(r, a.Gateway, "")
	}
	if t.settings.Listeners.Share == routing.ShareClass {
		everywhere = slices.Concat(everywhere, table) // those of other Gateways as well
	}
	if t.answerMisdirected(everywhere, table) || t.normalizePath(t.fittingListeners[0]) {
		return
	}
	if len(table) == 0 {
		table = t.fittingListeners[:1]
	}
	defer t.checkRefusal(a.Gateway)
	t.answerFrom(table)
	if unknownName && len(t.sure) > 0 {
		a.makeRuleUncertain("no listener is for the server name " + r.SNI + "; whether the host alone decides is not " +
			"known of " + t.settings.Name)
	}
}

// answerFrom answers with the best candidate of a table, or, where less specific listeners answer as
// well, of the first one of those that fit that has any.
func (t *trace) answerFrom(table routeTable) {
	a := t.answer
	t.answeringTables = []routeTable{table}
	if t.settings.sharedListeners {
		t.answeringTables = nil
		for i := range t.fittingListeners {
			t.answeringTables = append(t.answeringTables, t.fittingListeners[i:i+1])
		}
	}
	for _, table := range t.answeringTables {
		t.collectCandidates(table)
		if len(t.sure)+len(t.unsure) > 0 {
			a.Listener = table[0].id
			break
		}
	}
	if t.guarded != "" {
		t.addReason(t.guarded)
	}
	if len(t.sure) == 0 {
		t.answerNoMatch()
		return
	}
	t.chooseBest()
}

// answerMisdirected answers a request over TLS whose host belongs to another listener than its
// server name; false if it may go on.
func (t *trace) answerMisdirected(open []entryListener, table routeTable) bool {
	a := t.answer
	if t.settings.SNI == routing.SNIHost {
		return false
	}
	outcome, why := t.matcher.checkMisdirected(t.request, t.fittingListeners[0], open)
	switch {
	case outcome == "":
		return false
	case t.settings.SNI == routing.SNI404:
		if outcome != Misdirected { // the listener has no route for the host either
			break
		}
		t.addReason("the server name " + t.request.SNI + " leads to " +
			t.matcher.listenerName(t.fittingListeners[0]) + ", whose routes alone decide (" + t.settings.Name + ")")
		return false
	case t.settings.SNI == routing.SNIUnknown && (outcome == Misdirected || len(filterByHost(table, t.request.Host)) > 0):
		a.makeRuleUncertain(why + "; what becomes of such requests is not known of " + t.settings.Name)
	}
	a.Outcome, a.Status = outcome, 404
	if outcome == Misdirected {
		a.Status = 421
	}
	t.addReason(why)
	return true
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

// findGRPCKind returns the kind of routes that decide about a gRPC request: GRPCRoutes if one is
// for the host, else HTTPRoutes, which see it as the POST that it is. Where both are for the host,
// implementations differ (gatewayapi G57).
func findGRPCKind(t *trace, table routeTable) string {
	var grpc, http bool
	for _, p := range table {
		at := t.matcher.findIndex(p.id)
		grpc, http = grpc || at["GRPCRoute"].hasHost(t.request.Host), http || at["HTTPRoute"].hasHost(t.request.Host)
	}
	if grpc && http {
		t.answer.addProblem(model.Info, model.NotEvaluated, nil,
			fmt.Sprintf(
				"HTTPRoutes and GRPCRoutes are for host %s on %s: GRPCRoutes are assumed to win; implementations may reject the newer route", t.request.Host, t.matcher.listenerName(table[0])), "give each kind a hostname of its own")
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
		if t.matcher.isHostnameTaken(&c, t.settings) || t.isGuarded(&c) {
			continue
		}
		holds, pathHolds := t.settings.matchCandidate(&c, t.request)
		if t.settings.Commit && pathHolds == yes && c.openReason == "" {
			t.onPath = append(t.onPath, c)
		}
		switch {
		case holds == no:
		case holds == yes && c.openReason == "":
			t.sure = append(t.sure, c)
		default:
			t.unsure = append(t.unsure, c)
		}
	}
}

// isGuarded reports whether a candidate redirects to the scheme by which the request came, where the
// data plane leaves such candidates out.
func (t *trace) isGuarded(c *candidate) bool {
	if !t.settings.RedirectGuard || c.match == nil {
		return false
	}
	own := t.request.scheme()
	n := t.matcher.graph.Node(c.rule)
	for _, f := range ruleBody(n).Field("filters").Items {
		if f.Text("type") == "RequestRedirect" && f.Text("requestRedirect", "scheme") == own {
			t.guarded = n.Ref.String() + " redirects to " + own + ", which requests over " + own + " do not match (" +
				t.settings.Name + ")"
			return true
		}
	}
	return false
}

// sortCandidates puts the best candidates first.
func (t *trace) sortCandidates() {
	t.settings.sortCandidates(t.sure)
	t.settings.sortCandidates(t.unsure)
	if t.settings.HostGroups == routing.GroupsUnsorted {
		t.sure = t.settings.mergeGroups(t.sure)
	}
}

// chooseBest takes the best candidate and says what becomes of the request by its rule.
func (t *trace) chooseBest() {
	a, best := t.answer, &t.sure[0]
	a.Route, a.Rule = best.route, best.rule
	if t.matcher.graph.Node(best.place).Role == topology.Listener {
		a.Listener, a.Gateway = best.place, t.matcher.gatewayOf(best.place)
	}
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
	t.checkOpenHost()
	t.checkExpressions(best)
	t.checkListenerFilters()
	t.checkOrder()
	t.checkAddresses()
	t.checkUndecided()
}
