package view

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// isProtected is what is true of a request of which one of some properties has to hold.
func (p *prover) isProtected(a *request.Answer) judged {
	g := p.protector.judge.On(a)
	out := judged{truth: fails}
	for _, q := range p.q.Properties {
		r := g.Of(q.Property, q.Methods...)
		switch {
		case r.Verdict == gate.NotApplicable:
			return judged{truth: unasked}
		case r.Has(gate.DeniesAll):
			return judged{truth: unreached}
		case r.Verdict == gate.Holds:
			p.standing(a)
			return judged{truth: fulfils}
		case r.Verdict == gate.Depends:
			out.truth = open
		}
		out.because = append(out.because, r.Because...)
	}
	p.standing(a)
	if out.truth == open {
		out.why = reasonsText(out.because)
	}
	return out
}

// reasonsText says reasons in one sentence.
func reasonsText(reasons []protect.Reason) string {
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

// propertiesText says properties of which one has to hold, as what a request does.
func propertiesText(all []RequestProperty) string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.text()
	}
	return strings.Join(out, " or ")
}

// text is the property as what a request does.
func (p RequestProperty) text() string {
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
