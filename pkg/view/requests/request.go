package requests

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
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

	// Of a connection between two ends, of which one may be an address (the destination's is the
	// host):
	FromPeer *model.Ref `json:"from,omitempty"`
	ToPeer   *model.Ref `json:"to,omitempty"`          // of a connection: the workload that it goes to
	FromAddr string     `json:"fromAddress,omitempty"` // of a connection: the address that it comes from
}

// RequestBackend is a backend that may get the request.
type RequestBackend struct {
	Ref    model.Ref `json:"ref"`    // its section is the port
	Weight int       `json:"weight"` // its share among the backends of the rule

	// Of a proxy of Ingresses, and at Gateways where more is said of the request than its URL and headers:
	Port    int            `json:"port,omitempty"`    // number of the Service's port
	Path    string         `json:"path,omitempty"`    // path and query as the backend gets them
	TLS     bool           `json:"tls,omitempty"`     // the proxy speaks TLS to it
	Headers map[string]any `json:"headers,omitempty"` // what it gets of headers that are known; null: removed
}

// SentRequest is the request as a backend gets it, after rewrites.
type SentRequest struct {
	Method string `json:"method"` // as it was asked
	Host   string `json:"host"`   // without the port
	Path   string `json:"path"`   // without the query
}

// RequestResult is what becomes of one request.
type RequestResult struct {
	Request RequestText `json:"request"` // what was asked
	// Matched, NoMatch, Misdirected, Redirect, BackendError, Passthrough, Conditional; of a
	// connection Allowed, Denied, NotEvaluated; at a proxy of Ingresses also Answered (by the proxy
	// itself), Denied, Limited, NotEvaluated
	Outcome string `json:"outcome"`
	// of a Conditional answer: the outcome if what is not known changes nothing
	Assumed     string           `json:"assumed,omitempty"`
	Status      int              `json:"status,omitempty"`      // of HTTP, where the Gateway answers by itself
	Gateway     string           `json:"gateway,omitempty"`     // namespace/name
	ListenerSet string           `json:"listenerSet,omitempty"` // namespace/name; only for a listener of that set
	Listener    string           `json:"listener,omitempty"`    // its name
	Service     string           `json:"service,omitempty"`     // namespace/name, of a request in the mesh
	Route       *model.Ref       `json:"route,omitempty"`       // that takes it
	Rule        *int             `json:"rule,omitempty"`        // counted from 0
	Backends    []RequestBackend `json:"backends"`              // usable ones
	Sends       *SentRequest     `json:"sends,omitempty"`       // what the backends get of HTTP
	Location    string           `json:"location,omitempty"`    // of a redirect: where to
	Filters     []string         `json:"filters,omitempty"`     // of the rule, by type
	Why         []string         `json:"why"`                   // the comparisons that decided
	// other routes that match as well, best first, each once
	Shadowed  []model.Ref            `json:"shadowed"`
	Effective []view.EffectivePolicy `json:"effective"`           // the policies in force on the way
	Decisions []Decision             `json:"decisions,omitempty"` // of the kinds that judge it

	// what becomes of it at all points together: allowed, denied, depends; absent if no backend gets it
	Verdict string `json:"verdict,omitempty"`
	// the places that it passes, or passes by, at which policies may refuse it; of several ways one after
	// the other
	Path []PathPoint `json:"path,omitempty"`

	// what policies and filters on the way may answer before a backend does, whatever the
	// credentials
	MayAnswer []protect.Answer `json:"mayAnswer"`

	// where nothing takes it: what one part alone kept from taking it, nearest first
	NearMisses   []NearMiss    `json:"nearMisses,omitempty"`
	Expectations []Expectation `json:"expectations,omitempty"` // what was expected of it, and whether that is so

	IngressClass string `json:"ingressClass,omitempty"` // of a request to the proxy of Ingresses
	ProxyFacts

	StatusReasons *StatusReasons `json:"statusReasons,omitempty"` // of `why`: where a status may come from

	points           []point.Point  // of Path
	gates            *protect.Gates // on its path; nil: no rule takes it
	hasUnknownFilter bool           // a filter of the rule may answer it, and is not known
	ruleUncertain    bool           // it is not certain which rule takes it
	delegatedTo      *model.Ref     // of `why`: a route to which the rule delegates, on which policies are in force

	gatewayStatus int             // with which a policy refuses it
	ingressPath   string          // of the Ingress that takes it
	hostname      string          // of the listener
	failingText   string          // which share of the requests fails, and why
	ownProblems   []model.Problem // of this request
}

// RequestAnswer answers `request`.
type RequestAnswer struct {
	view.Envelope
	RequestResult
}

// RequestAnswerList answers `request` for several requests.
type RequestAnswerList struct {
	view.Envelope
	// in the order of the requests; of a request that several Gateways could take, one for each, by
	// their names
	Items []RequestResult `json:"items"`

	sameRequest bool // they answer the same request
}

// ExpectedAnswer is an answer, with what is expected of it.
type ExpectedAnswer struct {
	Answer *request.Answer
	Expect []Expect
	Status string // that was got, of which is asked where it may come from; "": nothing is asked

	// Of a request to a proxy of Ingresses: the proxy, and what it does; nil: it is to a Gateway.
	Proxy *ingress.Proxy
	Got   *ingress.Answer
}

// Answer is what becomes of a request, with the policies in force on its way.
func Answer(r *resolve.Resolution, asked ExpectedAnswer, kinds []model.GroupKind, judges view.Judges) *RequestAnswer {
	w := Writer{Collector: collect.NewForRequests(r, kinds), Judges: judges}
	out := &RequestAnswer{RequestResult: w.buildExpected(&asked)}
	out.Finish("RequestAnswer", append(w.Collector.CollectProblems(), asked.Answer.Problems...))
	guessed := func(gk model.GroupKind) bool {
		k := r.Kind(gk)
		return k != nil && k.IsGeneric()
	}
	if asked.Answer.Rule != topology.None && len(out.Effective) == 0 {
		out.SetPolicyOmission(w.Collector.FindPolicyOmission([]topology.NodeID{asked.Answer.Rule}))
	}
	doubts := collectDoubts(out.Problems, out.Decisions, guessed)
	out.addExpectations(asked.Expect, doubts)
	if asked.Status != "" {
		out.StatusReasons = w.explainStatus(asked.Status, asked.Answer, &out.RequestResult, doubts,
			guessed)
	}
	out.LimitRelevance(w.Collector.RelevanceFilter())
	return out
}

// AnswerAll is what becomes of each of several requests.
func AnswerAll(r *resolve.Resolution, all []ExpectedAnswer, kinds []model.GroupKind,
	judges view.Judges) *RequestAnswerList {
	w := Writer{Collector: collect.NewForRequests(r, kinds), Judges: judges}
	out := &RequestAnswerList{Items: make([]RequestResult, 0, len(all))}
	var problems []model.Problem
	for _, asked := range all {
		if len(asked.Expect) > 0 || asked.Status != "" { // what is not known about other requests does not matter to this one
			one := Answer(r, asked, kinds, judges)
			out.Items = append(out.Items, one.RequestResult)
			problems = append(problems, addRequestText(asked.Answer, one.Problems)...)
			continue
		}
		out.Items = append(out.Items, w.buildExpected(&asked))
		problems = append(problems, addRequestText(asked.Answer, asked.Answer.Problems)...)
	}
	out.Finish("RequestAnswerList", append(w.Collector.CollectProblems(), problems...))
	out.LimitRelevance(w.Collector.RelevanceFilter())
	return out
}

// AnswerAtEachGateway says what becomes of one request at each of several Gateways that could take
// it.
func AnswerAtEachGateway(r *resolve.Resolution, all []ExpectedAnswer, kinds []model.GroupKind,
	judges view.Judges) *RequestAnswerList {
	out := AnswerAll(r, all, kinds, judges)
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

// EffectivePolicies lists the policies in force on the way of a request.
func EffectivePolicies(r *resolve.Resolution, a *request.Answer,
	kinds []model.GroupKind) *effective.EffectivePolicyList {
	w := Writer{Collector: collect.NewForRequests(r, kinds)}
	list := &effective.EffectivePolicyList{Items: w.BuildResult(a).Effective}
	if a.Rule == topology.None {
		list.SetUnattached(a.Why...)
	} else {
		list.Routes = effective.CollectRouteSettings(w.Collector, []topology.NodeID{a.Rule}, a.Listener)
		list.SetRulesAsked(r.Node(a.Rule).Ref)
	}
	list.Finish("EffectivePolicyList", append(w.Collector.CollectProblems(), a.Problems...))
	list.LimitRelevance(w.Collector.RelevanceFilter())
	return list
}

// Writer puts answers into the shape of the contract.
type Writer struct {
	Collector *collect.Collector
	Judges    view.Judges

	protectionJudge *protect.Judge // made when it is first asked for
	GatesDecide     bool           // judgements of kinds with gates do not count
}

// JudgeRequest asks the kinds that judge requests. What they do not know makes the answer
// incomplete.
func (w *Writer) JudgeRequest(a *request.Answer) []Decision {
	if a.Gateway == topology.None && a.Service.Name == "" {
		return nil
	}
	out, judged := w.decideAtService(a)
	for _, v := range w.Judges.Evaluators.Judge(a, w.Collector.Resolution, w.Collector.Query.Kinds) {
		if slices.Contains(judged, v.Kind) {
			continue
		}
		gated := w.hasGates(v.Kind)
		if gated && w.GatesDecide {
			continue
		}
		w.Collector.AddProblems(v.Problems...)
		for _, d := range v.Decisions {
			item := newDecision(v.Kind, d)
			item.hasGates = gated
			out = append(out, item)
			if d.Outcome == request.NotEvaluated {
				w.Collector.AddProblems(model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
					Message: v.Kind.Kind + ": " + item.FormatSentence()})
			}
		}
	}
	return out
}

// decideAtService is what a proxy in front of the Service decides about a request in the mesh, with who
// sends it; judged are the kinds that it asks. A proxy that the request does not come by decides nothing.
func (w *Writer) decideAtService(a *request.Answer) (out []Decision, judged []model.GroupKind) {
	if a.Service.Name == "" {
		return nil, nil
	}
	path := WalkAnswer(Walker(w.Collector.Resolution, w.Judges), w.Collector.Resolution, a)
	for i := range path.Points {
		p := &path.Points[i]
		if p.Name != point.Waypoint {
			continue
		}
		judged = append(judged, p.PolicyKind)
		if p.Decision != nil && p.Verdict != point.Bypassed {
			d := *p.Decision
			d.At = a.Service
			out = append(out, newDecision(p.PolicyKind, d))
		}
	}
	return out, judged
}

// hasGates reports whether descriptors say what policies of a kind keep out: then gates tell more
// of a request than a judgement does.
func (w *Writer) hasGates(gk model.GroupKind) bool {
	k := w.Collector.Resolution.Kind(gk)
	return k != nil && len(k.Protects.Rules) > 0
}

// addForbiddenGateways adds the problems of Gateways that are forbidden: one of them may take a
// request for which there is none.
func (w *Writer) addForbiddenGateways() {
	for _, p := range w.Collector.Resolution.Snapshot.Problems {
		if p.Code == model.Forbidden && p.Ref != nil && p.Ref.GroupKind() == attach.GatewayKind {
			w.Collector.AddProblems(p)
		}
	}
}

// buildExpected returns what becomes of a request, at a Gateway or at a proxy of Ingresses.
func (w *Writer) buildExpected(asked *ExpectedAnswer) RequestResult {
	if asked.Proxy != nil {
		return buildProxyResult(asked)
	}
	return w.BuildResult(asked.Answer)
}

// BuildResult returns what becomes of a request in the shape of the contract.
func (w *Writer) BuildResult(a *request.Answer) RequestResult {
	r := w.Collector.Resolution
	out := RequestResult{Request: NewRequestText(&a.Request), Outcome: string(a.Outcome), Assumed: string(a.Assumed),
		Status: a.Status, Filters: a.Filters,
		Why: append([]string{}, a.Why...), Shadowed: append([]model.Ref{},
			a.Shadowed...), Backends: []RequestBackend{}, Effective: []view.EffectivePolicy{}, ownProblems: a.Problems}
	switch {
	case a.Gateway != topology.None:
		out.Gateway = r.Node(a.Gateway).Ref.FullName()
	case a.Service.Name == "":
		w.addForbiddenGateways()
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
	if a.Sends != nil {
		sent := SentRequest(*a.Sends)
		out.Sends = &sent
	}
	out.NearMisses, out.failingText = w.buildNearMisses(a), a.Failing
	out.Effective = append(out.Effective, w.FindEffective(a)...)
	out.Decisions = w.JudgeRequest(a)
	w.addGates(a, &out)
	w.addPath(a, &out)
	w.addGatewayFacts(a, &out)
	return out
}

// NewRequestText returns a request in the shape of the contract.
func NewRequestText(r *request.Request) RequestText {
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

// FindEffective returns the policies in force on the path of the request: at its rule, and at the
// listener and the backends for kinds that have their results there.
func (w *Writer) FindEffective(a *request.Answer) []view.EffectivePolicy {
	steps := EntryNodes(a)
	w.Collector.MarkVisited(steps)
	backends := w.FindBackendNodes(a.Backends)
	w.Collector.AddVisited(NodesAffecting(w.Collector.Resolution, a, backends))
	if a.Rule == topology.None && a.Outcome != request.Passthrough {
		return nil
	}
	var out []view.EffectivePolicy
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
func (w *Writer) findServiceNodes(a *request.Answer) []topology.NodeID {
	r := w.Collector.Resolution
	switch {
	case a.Service.Name == "":
		return nil
	case a.Rule == topology.None:
		return r.Graph.ExtraNodes(a.Service)
	}
	return slices.DeleteFunc(slices.Clone(r.Graph.ExtraNodes(r.Node(a.Rule).Ref)), func(id topology.NodeID) bool {
		return !slices.ContainsFunc(r.Graph.AllParents(id),
			func(up topology.NodeID) bool { return r.Node(up).Ref == a.Service })
	})
}

// EntryNodes returns the nodes from the Gateway, or the Service in the mesh, to the rule, as far as
// the request gets.
func EntryNodes(a *request.Answer) []topology.NodeID {
	return slices.DeleteFunc([]topology.NodeID{a.Gateway, a.Listener, a.Route, a.Rule},
		func(id topology.NodeID) bool { return id == topology.None })
}

// FindBackendNodes returns the nodes of the backends and of their ports.
func (w *Writer) FindBackendNodes(of []topology.BackendRef) []topology.NodeID {
	g := w.Collector.Resolution.Graph
	var out []topology.NodeID
	for _, b := range of {
		for _, ref := range []model.Ref{b.Ref.WithoutSection(), b.Ref} {
			for _, id := range g.Lookup(ref) {
				if role := g.Node(id).Role; (role == topology.Backend || role == topology.Port) &&
					!slices.Contains(out, id) {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

// findEffectiveAt returns the policies in force at a node on paths that lead through all of the
// given nodes.
func (w *Writer) findEffectiveAt(id topology.NodeID, through ...topology.NodeID) []view.EffectivePolicy {
	var out []view.EffectivePolicy
	w.Collector.EachStackAt(id, func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, ways []resolve.Path) {
		ways = slices.DeleteFunc(slices.Clone(ways), func(way resolve.Path) bool {
			return slices.ContainsFunc(through, func(t topology.NodeID) bool {
				return t != topology.None &&
					!slices.Contains(way, t)
			})
		})
		if len(ways) == 0 {
			return
		}
		if item := w.Collector.BuildItemWithProblems(k, id, s, w.Collector.ConvertTargetPaths(k, id, s,
			ways)); len(item.Rules) > 0 {
			out = append(out, item)
		}
	})
	slices.SortStableFunc(out, func(a, b view.EffectivePolicy) int { return cmp.Compare(a.PolicyKind, b.PolicyKind) })
	return out
}

// PossibleNodes lists the nodes that a request passes; where it is not known which rule
// takes it, those that it may pass by each rule that may. listener is the one asked about; "": the
// one that the request leads to. The problems are the warnings about the request.
func PossibleNodes(r *resolve.Resolution, m *request.Matcher, a *request.Answer,
	listener string) (nodes []topology.NodeID, told []model.Problem, err error) {
	nodes = Nodes(r, a)
	if a.Request.From == "" && a.Gateway != topology.None {
		taken, err := m.FindRule(a.Request, request.Destination{Gateway: a.Gateway, Listener: listener})
		if err != nil {
			return nil, nil, err
		}
		for _, may := range taken.Possible {
			if may.Rule != topology.None {
				nodes = append(nodes, Nodes(r, may)...)
			}
		}
	}
	return nodes, slices.DeleteFunc(slices.Clone(a.Problems),
		func(p model.Problem) bool { return p.Severity == model.Info }), nil
}

// Nodes lists the nodes that a request passes, the ports of its backends included.
func Nodes(r *resolve.Resolution, a *request.Answer) []topology.NodeID {
	w := Writer{Collector: collect.NewForRequests(r, nil)}
	return append(NodesOnPath(r, a), w.FindBackendNodes(a.Backends)...)
}

// NodesOnPath returns the nodes that a request passes up to the rule that takes it, in the order in
// which it does.
func NodesOnPath(r *resolve.Resolution, a *request.Answer) []topology.NodeID {
	var out []topology.NodeID
	up := func(id topology.NodeID) []topology.NodeID { return r.Graph.Parents(topology.Traffic, id) }
	if a.Gateway != topology.None {
		out = append(slices.Clone(up(a.Gateway)), a.Gateway)
		if a.Listener != topology.None { // a ListenerSet between the two
			out = append(out, slices.DeleteFunc(slices.Clone(up(a.Listener)),
				func(id topology.NodeID) bool { return id == a.Gateway })...)
		}
	}
	if a.Listener != topology.None {
		out = append(out, a.Listener)
	}
	return slices.DeleteFunc(append(out, a.Route, a.Rule), func(id topology.NodeID) bool { return id == topology.None })
}

// FilterNames are the route that takes the request, if one does.
func (a *RequestAnswer) FilterNames() []string {
	return view.UniqueObjectNames([]RequestResult{a.RequestResult},
		func(r *RequestResult) *model.Ref { return r.Route })
}

// FilterNames are the routes that take the requests, each once.
func (l *RequestAnswerList) FilterNames() []string {
	return view.UniqueObjectNames(l.Items, func(r *RequestResult) *model.Ref { return r.Route })
}

// NodesAffecting returns the nodes that affect a request: the Gateway with what is above it,
// the routes that delegate to the one that takes the request, and its backends.
func NodesAffecting(r *resolve.Resolution, a *request.Answer, backends []topology.NodeID) []topology.NodeID {
	g := r.Graph
	out := append(EntryNodes(a), backends...)
	for _, id := range []topology.NodeID{a.Gateway, a.Listener} {
		if id != topology.None {
			out = append(out, g.Parents(topology.Traffic, id)...)
		}
	}
	if a.Service.Name != "" {
		out = append(out, g.Lookup(a.Service)...)
	}
	for open := []topology.NodeID{a.Rule, a.Route}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if id == topology.None {
			continue
		}
		for _, over := range g.Parents(topology.All, id) {
			if role := g.Node(over).Role; role == topology.Route || role == topology.Rule {
				out, open = append(out, over), append(open, over)
			}
		}
	}
	return out
}
