package view

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// RequestText is a request as it was understood.
type RequestText struct {
	Text     string `json:"text"`                    // in one line
	Protocol string `json:"protocol"`                // what the client speaks: HTTP, HTTPS, gRPC, TLS, TCP, UDP, SCTP
	Method   string `json:"method,omitempty"`        // of HTTP
	Host     string `json:"host"`                    // without the port
	Port     int    `json:"port"`                    // that the client connects to
	SNI      string `json:"sni,omitempty"`           // the name in the TLS handshake
	Path     string `json:"path,omitempty"`          // of HTTP
	GRPC     string `json:"grpc,omitempty"`          // service/method
	From     string `json:"fromNamespace,omitempty"` // of a client in the mesh

	// Of a connection between two ends, of which one may be an address (the destination's is the host):
	FromPeer *model.Ref `json:"from,omitempty"`
	ToPeer   *model.Ref `json:"to,omitempty"`          // of a connection: the workload that it goes to
	FromAddr string     `json:"fromAddress,omitempty"` // of a connection: the address that it comes from
}

// RequestBackend is a backend that may get the request.
type RequestBackend struct {
	Ref    model.Ref `json:"ref"`    // its section is the port
	Weight int       `json:"weight"` // its share among the backends of the rule
}

// RequestResult is what becomes of one request.
type RequestResult struct {
	Request     RequestText       `json:"request"`               // what was asked
	Outcome     string            `json:"outcome"`               // Matched, NoMatch, Misdirected, Redirect, BackendError, Passthrough, Conditional; of a connection Allowed, Denied, NotEvaluated
	Assumed     string            `json:"assumed,omitempty"`     // of a Conditional answer: the outcome if what is not known changes nothing
	Status      int               `json:"status,omitempty"`      // of HTTP, where the Gateway answers by itself
	Gateway     string            `json:"gateway,omitempty"`     // namespace/name
	ListenerSet string            `json:"listenerSet,omitempty"` // namespace/name; only for a listener of that set
	Listener    string            `json:"listener,omitempty"`    // its name
	Service     string            `json:"service,omitempty"`     // namespace/name, of a request in the mesh
	Route       *model.Ref        `json:"route,omitempty"`       // that takes it
	Rule        *int              `json:"rule,omitempty"`        // counted from 0
	Backends    []RequestBackend  `json:"backends"`              // usable ones
	Location    string            `json:"location,omitempty"`    // of a redirect: where to
	Filters     []string          `json:"filters,omitempty"`     // of the rule, by type
	Why         []string          `json:"why"`                   // the comparisons that decided
	Shadowed    []model.Ref       `json:"shadowed"`              // other routes that match as well, best first, each once
	Effective   []EffectivePolicy `json:"effective"`             // the policies in force on the way
	Decisions   []Decision        `json:"decisions,omitempty"`   // of the kinds that judge it

	MayAnswer []protect.Answer `json:"mayAnswer"` // what policies and filters on the way may answer before a backend does, whatever the credentials

	NearMisses   []NearMiss    `json:"nearMisses,omitempty"`   // where nothing takes it: what one part alone kept from taking it, nearest first
	Expectations []Expectation `json:"expectations,omitempty"` // what was expected of it, and whether that is so

	gates            *protect.Gates // on its path; nil: no rule takes it
	hasUnknownFilter bool           // a filter of the rule may answer it, and is not known
	ruleUncertain    bool           // it is not certain which rule takes it

	hostname    string          // of the listener
	failingText string          // which share of the requests fails, and why
	ownProblems []model.Problem // of this request
}

// RequestAnswer answers `request`.
type RequestAnswer struct {
	Envelope
	RequestResult
}

// RequestAnswerList answers `request` for several requests.
type RequestAnswerList struct {
	Envelope
	Items []RequestResult `json:"items"` // in the order of the requests; of a request that several Gateways could take, one for each, by their names

	sameRequest bool // they answer the same request
}

// ExpectedAnswer is an answer, with what is expected of it.
type ExpectedAnswer struct {
	Answer *request.Answer
	Expect []Expect
}

// Request is what becomes of a request, with the policies in force on its way.
func Request(r *resolve.Resolution, asked ExpectedAnswer, kinds []model.GroupKind, judges Judges) *RequestAnswer {
	w := requestWriter{collector: newRequestCollector(r, kinds), judges: judges}
	out := &RequestAnswer{RequestResult: w.buildResult(asked.Answer)}
	out.Finish("RequestAnswer", append(w.collector.collectProblems(), asked.Answer.Problems...))
	guessed := func(gk model.GroupKind) bool {
		k := r.Kind(gk)
		return k != nil && k.IsGeneric()
	}
	out.addExpectations(asked.Expect, collectDoubts(out.Problems, out.Decisions, guessed))
	out.LimitRelevance(w.collector.relevanceFilter())
	return out
}

// Requests is what becomes of each of several requests.
func Requests(r *resolve.Resolution, all []ExpectedAnswer, kinds []model.GroupKind, judges Judges) *RequestAnswerList {
	w := requestWriter{collector: newRequestCollector(r, kinds), judges: judges}
	out := &RequestAnswerList{Items: make([]RequestResult, 0, len(all))}
	var problems []model.Problem
	for _, asked := range all {
		if len(asked.Expect) > 0 { // what is not known about other requests does not matter to this one
			one := Request(r, asked, kinds, judges)
			out.Items = append(out.Items, one.RequestResult)
			problems = append(problems, addRequestText(asked.Answer, one.Problems)...)
			continue
		}
		out.Items = append(out.Items, w.buildResult(asked.Answer))
		problems = append(problems, addRequestText(asked.Answer, asked.Answer.Problems)...)
	}
	out.Finish("RequestAnswerList", append(w.collector.collectProblems(), problems...))
	out.LimitRelevance(w.collector.relevanceFilter())
	return out
}

// RequestAtEachGateway says what becomes of one request at each of several Gateways that could take
// it.
func RequestAtEachGateway(r *resolve.Resolution, all []ExpectedAnswer, kinds []model.GroupKind, judges Judges) *RequestAnswerList {
	out := Requests(r, all, kinds, judges)
	out.sameRequest = true
	return out
}

// addRequestText names the request in the problems that are the answer's own and name no object.
func addRequestText(a *request.Answer, problems []model.Problem) []model.Problem {
	out := slices.Clone(problems)
	for i := range out {
		own := func(p model.Problem) bool { return p.Ref == nil && p.Message == out[i].Message }
		if slices.ContainsFunc(a.Problems, own) {
			out[i].Message = a.Request.Text + ": " + out[i].Message
		}
	}
	return out
}

// EffectiveForRequest lists the policies in force on the way of a request.
func EffectiveForRequest(r *resolve.Resolution, a *request.Answer, kinds []model.GroupKind) *EffectivePolicyList {
	w := requestWriter{collector: newRequestCollector(r, kinds)}
	list := &EffectivePolicyList{Items: w.buildResult(a).Effective}
	if a.Rule == topology.None {
		list.SetUnattached(a.Why...)
	} else {
		list.Routes = collectRouteSettings(w.collector, []topology.NodeID{a.Rule}, a.Listener)
		list.SetRulesAsked(r.Node(a.Rule).Ref)
	}
	list.Finish("EffectivePolicyList", append(w.collector.collectProblems(), a.Problems...))
	list.LimitRelevance(w.collector.relevanceFilter())
	return list
}

// requestWriter puts answers into the shape of the contract.
type requestWriter struct {
	collector *collector
	judges    Judges

	protectionJudge *protect.Judge // made when it is first asked for
	gatesDecide     bool           // judgements of kinds with gates do not count
}

// judgeRequest asks the kinds that judge requests. What they do not know makes the answer
// incomplete.
func (w *requestWriter) judgeRequest(a *request.Answer) []Decision {
	if a.Gateway == topology.None && a.Service.Name == "" {
		return nil
	}
	_, verdicts := w.judges.Evaluators.Judge(request.Query{From: request.UnknownPeer(), To: request.UnknownPeer(), Answer: a}, w.collector.res, w.collector.query.Kinds)
	var out []Decision
	for _, v := range verdicts {
		gated := w.hasGates(v.Kind)
		if gated && w.gatesDecide {
			continue
		}
		w.collector.addProblems(v.Problems...)
		for _, d := range v.Decisions {
			item := newDecision(v.Kind, d)
			item.hasGates = gated
			out = append(out, item)
			if d.Outcome == request.NotEvaluated {
				w.collector.addProblems(model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: v.Kind.Kind + ": " + item.formatSentence()})
			}
		}
	}
	return out
}

// hasGates reports whether descriptors say what policies of a kind keep out: then gates tell more of a request than a judgement does.
func (w *requestWriter) hasGates(gk model.GroupKind) bool {
	k := w.collector.res.Kind(gk)
	return k != nil && len(k.Protects.Rules) > 0
}

// buildResult returns what becomes of a request in the shape of the contract.
func (w *requestWriter) buildResult(a *request.Answer) RequestResult {
	r := w.collector.res
	out := RequestResult{Request: requestText(&a.Request), Outcome: string(a.Outcome), Assumed: string(a.Assumed), Status: a.Status, Filters: a.Filters,
		Why: append([]string{}, a.Why...), Shadowed: append([]model.Ref{}, a.Shadowed...), Backends: []RequestBackend{}, Effective: []EffectivePolicy{}, ownProblems: a.Problems}
	if a.Gateway != topology.None {
		out.Gateway = r.Node(a.Gateway).Ref.FullName()
	}
	if a.Service.Name != "" {
		out.Service = a.Service.FullName()
	} else if a.Listener != topology.None {
		n := r.Node(a.Listener)
		out.Listener, out.hostname = n.Ref.Section, r.Graph.Hostname(a.Listener)
		if n.Ref.Kind != "Gateway" {
			out.ListenerSet = n.Ref.FullName()
		}
	}
	if a.Rule != topology.None {
		ref, index := r.Node(a.Rule).Ref, r.Node(a.Rule).Index
		out.Route, out.Rule = &ref, &index
	}
	for _, b := range a.Backends {
		out.Backends = append(out.Backends, RequestBackend{Ref: b.Ref, Weight: b.Weight})
	}
	if a.Location != nil {
		out.Location = a.Location.URL
	}
	out.NearMisses, out.failingText = w.buildNearMisses(a), a.Failing
	out.Effective = append(out.Effective, w.findEffective(a)...)
	out.Decisions = w.judgeRequest(a)
	w.addGates(a, &out)
	return out
}

// requestText returns a request in the shape of the contract.
func requestText(r *request.Request) RequestText {
	out := RequestText{Text: r.Text, Protocol: string(r.Protocol), Host: r.Host, Port: int(r.Port), From: r.From}
	switch r.Protocol {
	case request.HTTP:
		out.Method, out.Path = r.Method, r.Path
		if r.Secure {
			out.Protocol = "HTTPS"
		}
	case request.GRPC:
		out.GRPC = r.Service + "/" + r.Call
	}
	if r.Secure || r.Protocol == request.TLS {
		out.SNI = r.SNI
	}
	return out
}

// findEffective returns the policies in force on the path of the request: at its rule, and at the
// listener and the backends for kinds that have their results there.
func (w *requestWriter) findEffective(a *request.Answer) []EffectivePolicy {
	steps := entryNodes(a)
	w.collector.markVisited(steps)
	backends := w.findBackendNodes(a.Backends)
	w.collector.addVisited(nodesAffectingRequest(w.collector.res, a, backends))
	if a.Rule == topology.None && a.Outcome != request.Passthrough {
		return nil
	}
	var out []EffectivePolicy
	for _, id := range steps {
		if id == a.Gateway { // above the listener
			out = append(out, w.findEffectiveAt(id)...)
		} else {
			out = append(out, w.findEffectiveAt(id, a.Listener)...)
		}
	}
	for _, id := range backends {
		out = append(out, w.findEffectiveAt(id, a.Listener, a.Rule)...)
	}
	for _, id := range w.findServiceNodes(a) {
		out = append(out, w.findEffectiveAt(id)...)
	}
	return out
}

// findServiceNodes returns the nodes that stand for the rule at the Service that a request of the
// mesh is for, or for the Service itself where no rule takes it.
func (w *requestWriter) findServiceNodes(a *request.Answer) []topology.NodeID {
	r := w.collector.res
	switch {
	case a.Service.Name == "":
		return nil
	case a.Rule == topology.None:
		return r.Graph.ExtraNodes(a.Service)
	}
	return slices.DeleteFunc(slices.Clone(r.Graph.ExtraNodes(r.Node(a.Rule).Ref)), func(id topology.NodeID) bool {
		return !slices.ContainsFunc(r.Graph.AllParents(id), func(up topology.NodeID) bool { return r.Node(up).Ref == a.Service })
	})
}

// entryNodes returns the nodes from the Gateway, or the Service in the mesh, to the rule, as far as
// the request gets.
func entryNodes(a *request.Answer) []topology.NodeID {
	return slices.DeleteFunc([]topology.NodeID{a.Gateway, a.Listener, a.Route, a.Rule}, func(id topology.NodeID) bool { return id == topology.None })
}

// findBackendNodes returns the nodes of the backends and of their ports.
func (w *requestWriter) findBackendNodes(of []topology.BackendRef) []topology.NodeID {
	g := w.collector.res.Graph
	var out []topology.NodeID
	for _, b := range of {
		for _, ref := range []model.Ref{b.Ref.WithoutSection(), b.Ref} {
			for _, id := range g.Lookup(ref) {
				if role := g.Node(id).Role; (role == topology.Backend || role == topology.Port) && !slices.Contains(out, id) {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

// findEffectiveAt returns the policies in force at a node on paths that lead through all of the
// given nodes.
func (w *requestWriter) findEffectiveAt(id topology.NodeID, through ...topology.NodeID) []EffectivePolicy {
	var out []EffectivePolicy
	w.collector.eachStackAt(id, func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, ways []resolve.Path) {
		ways = slices.DeleteFunc(slices.Clone(ways), func(way resolve.Path) bool {
			return slices.ContainsFunc(through, func(t topology.NodeID) bool { return t != topology.None && !slices.Contains(way, t) })
		})
		if len(ways) == 0 {
			return
		}
		if item := w.collector.buildItemWithProblems(k, id, s, w.collector.convertTargetPaths(k, id, s, ways)); len(item.Rules) > 0 {
			out = append(out, item)
		}
	})
	slices.SortStableFunc(out, func(a, b EffectivePolicy) int { return cmp.Compare(a.PolicyKind, b.PolicyKind) })
	return out
}

// PossibleRequestNodes lists the nodes that a request passes; where it is not known which rule
// takes it, those that it may pass by each rule that may. listener is the one asked about; "": the
// one that the request leads to. The problems are the warnings about the request.
func PossibleRequestNodes(r *resolve.Resolution, m *request.Matcher, a *request.Answer, listener string) (nodes []topology.NodeID, told []model.Problem, err error) {
	nodes = RequestNodes(r, a)
	if a.Request.From == "" && a.Gateway != topology.None {
		taken, err := m.FindRule(a.Request, request.Destination{Gateway: a.Gateway, Listener: listener})
		if err != nil {
			return nil, nil, err
		}
		for _, may := range taken.Possible {
			if may.Rule != topology.None {
				nodes = append(nodes, RequestNodes(r, may)...)
			}
		}
	}
	return nodes, slices.DeleteFunc(slices.Clone(a.Problems), func(p model.Problem) bool { return p.Severity == model.Info }), nil
}

// RequestNodes lists the nodes that a request passes, the ports of its backends included.
func RequestNodes(r *resolve.Resolution, a *request.Answer) []topology.NodeID {
	w := requestWriter{collector: newRequestCollector(r, nil)}
	return append(nodesOnPath(r, a), w.findBackendNodes(a.Backends)...)
}
