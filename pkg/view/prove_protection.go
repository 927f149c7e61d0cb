package view

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// judgeProtection says whether one of the properties asked about holds for a request.
func (p *prover) judgeProtection(a *request.Answer) judgement {
	g := p.protector.judge.FindGates(a)
	out := judgement{truth: truthFails}
	for _, q := range p.q.Properties {
		r := g.JudgeProperty(q.Property, q.Methods...)
		switch {
		case r.Verdict == gate.NotApplicable:
			return judgement{truth: truthNotAsked}
		case r.HasReason(gate.DeniesAll):
			return judgement{truth: truthUnreached}
		case r.Verdict == gate.Holds:
			p.findInForce(a)
			return judgement{truth: truthHolds}
		case r.Verdict == gate.Depends:
			out.truth = truthUnknown
		}
		out.reasons = append(out.reasons, r.Because...)
	}
	p.findInForce(a)
	if out.truth == truthUnknown {
		out.why = joinReasons(out.reasons)
	}
	return out
}

// joinReasons says reasons in one sentence.
func joinReasons(reasons []protect.Reason) string {
	var out []string
	seen := map[string]bool{}
	for _, r := range reasons {
		if !seen[r.Message] {
			seen[r.Message] = true
			out = append(out, r.Message)
		}
	}
	return strings.Join(out, "; ")
}

// formatProperties says properties of which one has to hold, as what a request does.
func formatProperties(all []RequestProperty) string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.formatText()
	}
	return strings.Join(out, " or ")
}

// formatText says the property as what a request does.
func (p RequestProperty) formatText() string {
	switch p.Property {
	case gate.Authentication:
		if len(p.Methods) > 0 {
			return "is authenticated by " + strings.Join(p.Methods, " or ")
		}
		return "is authenticated"
	case gate.Authorization:
		return "is authorized"
	case gate.ClientCertificate:
		return "shows a client certificate that is verified"
	case gate.RateLimit:
		return "counts against a rate limit"
	case gate.IPList:
		return "comes from an address of a list"
	case gate.CORS:
		return "has an origin of a list, if it names one"
	case gate.WAF:
		return "passes a web application firewall"
	case gate.TLSIn:
		return "arrives over TLS"
	case gate.HTTPSRedirect:
		return "without TLS is redirected to https"
	case gate.TLSBackend:
		return "goes on over TLS that is verified"
	case gate.RequestSize:
		return "has a size limit"
	case gate.Timeout:
		return "has a time limit"
	}
	return "is retried"
}
