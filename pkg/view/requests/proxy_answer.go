package requests

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// ProxyFacts are what a proxy does with a request: in answers about Ingresses, and about Gateways where
// more is said of the request than its URL and headers.
type ProxyFacts struct {
	Ingress *model.Ref `json:"ingress,omitempty"` // whose path takes the request
	// what refuses it: basic, external, clientCertificate, allowlist, denylist, blocked, bodySize,
	// configuration, jwt, oidc, apiKey, authorization
	DeniedBy ingress.Barrier `json:"deniedBy,omitempty"`
	// the credentials that have to be passed, one of each list, whether or not this request passes
	NeedsAuth [][]ingress.Barrier `json:"needsAuth,omitempty"`
	// what the proxy sets in the answer, a text or several, and null where it removes a header; "..." is a
	// value that is not known
	ResponseHeaders map[string]any        `json:"responseHeaders,omitempty"`
	Statuses        []ingress.StatusCount `json:"statuses,omitempty"` // of --repeat: how many requests get a status
	Affinity        string                `json:"affinity,omitempty"` // the cookie that ties a client to an endpoint
}

// NewProxyAnswer returns the answer of a proxy to a request, as one that a Gateway gives.
func NewProxyAnswer(p *ingress.Proxy, r request.Request, spent *ingress.Spent) ExpectedAnswer {
	got := p.Answer(&r, spent)
	a := &request.Answer{Request: r, Outcome: got.Outcome, Gateway: topology.None, Listener: topology.None,
		Route: topology.None, Rule: topology.None, Status: got.Status, Why: got.Why, Problems: proxyProblems(p, &r, got)}
	return ExpectedAnswer{Answer: a, Proxy: p, Got: got}
}

// proxyProblems returns what is wrong with the proxy, and what is not known of the answer.
func proxyProblems(p *ingress.Proxy, r *request.Request, got *ingress.Answer) []model.Problem {
	out := append(append([]model.Problem{}, p.Problems...), got.Problems...)
	if got.Outcome == request.NotEvaluated && !p.Refused {
		problem := model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "cannot tell what becomes of the request: " + strings.Join(got.Why, "; ")}
		if got.Ingress != (model.Ref{}) {
			problem.Ref = &got.Ingress
		}
		out = append(out, problem)
	}
	if !r.ClientAddress.IsValid() && len(p.Tests(r.Host).Addresses) > 0 {
		out = append(out, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Message: "address lists are in force, and the client is taken to be in none",
			Hint:    "--client-ip ADDRESS says who sends the request"})
	}
	return out
}

// buildProxyResult returns what a proxy does with a request in the shape of the contract.
func buildProxyResult(asked *ExpectedAnswer) RequestResult {
	a, got := asked.Answer, asked.Got
	facts, backends := DescribeProxyAnswer(got)
	out := RequestResult{Request: NewRequestText(&a.Request), Outcome: string(got.Outcome), Status: got.Status,
		Location: got.Location, Backends: backends, Why: append([]string{}, got.Why...),
		Shadowed: []model.Ref{}, Effective: []view.EffectivePolicy{}, MayAnswer: []protect.Answer{},
		IngressClass: asked.Proxy.Class, ProxyFacts: facts, ingressPath: got.Path, ownProblems: a.Problems}
	if len(got.Settings) > 0 && got.Ingress != (model.Ref{}) {
		out.Effective = append(out.Effective, effective.NewIngressPolicy(got.Ingress, model.Origin{}, a.Request.Host,
			got.Path, got.Settings))
	}
	return out
}

// DescribeProxyAnswer returns an answer in the shape of the contract: the backends, and what else is
// said of it.
func DescribeProxyAnswer(got *ingress.Answer) (ProxyFacts, []RequestBackend) {
	backends := make([]RequestBackend, len(got.Backends))
	for i := range got.Backends {
		backends[i] = newProxyBackend(&got.Backends[i])
	}
	return newProxyFacts(got), backends
}

// newProxyFacts returns what is said of an answer besides what is said of every request.
func newProxyFacts(got *ingress.Answer) ProxyFacts {
	out := ProxyFacts{DeniedBy: got.DeniedBy, NeedsAuth: got.NeedsAuth, Statuses: got.Statuses,
		Affinity: got.Affinity, ResponseHeaders: headerValues(got.ResponseHeaders)}
	if got.Ingress != (model.Ref{}) {
		out.Ingress = &got.Ingress
	}
	return out
}

func newProxyBackend(b *ingress.Backend) RequestBackend {
	return RequestBackend{Ref: b.Ref, Weight: b.Weight, Port: int(b.Port), Path: b.Path, TLS: b.TLS,
		Headers: headerValues(b.Headers)}
}

// headerValues returns headers by name: a text, a list of several, or nil where one is removed.
func headerValues(all []ingress.Header) map[string]any {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]any, len(all))
	for _, h := range all {
		switch {
		case h.Removed:
			out[h.Name] = nil
		case len(h.Values) == 1:
			out[h.Name] = h.Values[0]
		default:
			out[h.Name] = h.Values
		}
	}
	return out
}

// formatIngressPath says the path of a request at a proxy of Ingresses as far as it gets.
func (a *RequestResult) formatIngressPath() string {
	out := "ingress class " + a.IngressClass
	if a.Ingress != nil {
		out = a.Ingress.String() + " · path " + a.ingressPath
	}
	if len(a.Backends) > 0 {
		out += " → " + a.backendText()
	}
	return out
}

// FormatNeeds says which credentials have to be passed.
func FormatNeeds(needs [][]ingress.Barrier) string {
	var all []string
	for _, alternatives := range needs {
		words := make([]string, len(alternatives))
		for i, w := range alternatives {
			words[i] = string(w)
		}
		all = append(all, strings.Join(words, " or "))
	}
	return view.JoinWithAnd(all)
}

// proxyLines say what a proxy does with the request besides where it goes.
func (a *RequestResult) proxyLines() []string {
	var out []string
	if len(a.NeedsAuth) > 0 {
		out = append(out, "needs: "+FormatNeeds(a.NeedsAuth))
	}
	if len(a.Backends) > 0 && a.Backends[0].Path != "" && a.Backends[0].Path != a.Request.Path {
		out = append(out, "sends: "+a.Request.Method+" "+a.Backends[0].Path)
	}
	for _, s := range a.Statuses {
		out = append(out, fmt.Sprintf("status %d: %d to %d of the requests", s.Status, s.Least, s.Most))
	}
	if a.Affinity != "" {
		out = append(out, "affinity: cookie "+a.Affinity)
	}
	return out
}
