package requests

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// Property is a property that is asked about: of authentication, if methods are given, with one of
// them in any case.
type Property struct {
	Property gate.Property
	Methods  []string
}

// String is the property as it is asked for: authentication=jwt|oidc.
func (p Property) String() string {
	if len(p.Methods) == 0 {
		return string(p.Property)
	}
	return string(p.Property) + "=" + strings.Join(p.Methods, "|")
}

// FormatProperties says properties of which one has to hold, as what a request does.
func FormatProperties(all []Property) string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.formatText()
	}
	return strings.Join(out, " or ")
}

// formatText says the property as what a request does.
func (p Property) formatText() string {
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
