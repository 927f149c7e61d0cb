package envoygateway

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// mergedSpec reads a policy, or a child over the parent that it is merged with.
type mergedSpec struct{ child, parent *policy.Policy }

// field is what stands at a path below spec: the child's, else the parent's.
func (s mergedSpec) field(path ...string) model.Body {
	path = append([]string{"spec"}, path...)
	if own := s.child.Object.Body.At(path...); !own.IsNull() || s.parent == nil {
		return own
	}
	return s.parent.Object.Body.At(path...)
}

// explainInvalidSecurity is what the controller holds against a SecurityPolicy for a route before
// it translates it, "" for nothing.
func explainInvalidSecurity(s mergedSpec, kind string) string {
	if kind == "TCPRoute" {
		return explainInvalidForTCP(s)
	}
	return explainInvalidForHTTP(s)
}

// explainInvalidForTCP is explainInvalidSecurity for TCPRoutes: of a connection nothing but the
// client's address is known.
func explainInvalidForTCP(s mergedSpec) string {
	for _, field := range []string{"apiKeyAuth", "basicAuth", "cors", "csrf", "extAuth", "jwt", "oidc"} {
		if !s.field(field).IsNull() {
			return "only authorization is supported for TCP (routes/listeners)"
		}
	}
	for i, rule := range s.field("authorization", "rules").Items {
		principal := rule.Field("principal")
		switch {
		case !rule.Field("cel").IsNull():
			return fmt.Sprintf("rule %d: CEL not supported for TCP", i)
		case !principal.Field("jwt").IsNull():
			return fmt.Sprintf("rule %d: JWT not supported for TCP", i)
		case principal.Field("headers").Len() > 0:
			return fmt.Sprintf("rule %d: headers not supported for TCP", i)
		case principal.Field("clientIPGeoLocations").Len() > 0:
			return fmt.Sprintf("rule %d: clientIPGeoLocations not supported for TCP", i)
		}
		for _, cidr := range principal.Field("clientCIDRs").Items {
			if _, err := netip.ParsePrefix(cidr.Text()); err != nil {
				return fmt.Sprintf("rule %d: invalid ClientCIDR %q", i, cidr.Text())
			}
		}
	}
	return ""
}

// explainInvalidForHTTP has the rules that the CRD does not.
func explainInvalidForHTTP(s mergedSpec) string {
	sources := s.field("apiKeyAuth", "extractFrom")
	if !s.child.Object.Body.At("spec", "apiKeyAuth").IsNull() {
		// a child without any takes its parent's away
		sources = s.child.Object.Body.At("spec", "apiKeyAuth", "extractFrom")
	}
	for _, source := range sources.Items {
		places := 0
		for _, field := range []string{"headers", "params", "cookies"} {
			if source.Field(field).Len() > 0 {
				places++
			}
		}
		if places > 1 {
			return "only one of headers, params or cookies must be specified"
		}
	}
	if s.field("oidc", "passThroughAuthHeader").Value() != true {
		return ""
	}
	providers := s.field("jwt", "providers")
	if providers.IsNull() {
		return "the OIDC.PassThroughAuthHeader setting must be used in conjunction with JWT settings"
	}
	for _, p := range providers.Items {
		if from := p.Field("extractFrom"); from.IsNull() || from.Field("headers").Len() > 0 {
			return ""
		}
	}
	return "the OIDC.PassThroughAuthHeader setting must be used in conjunction with a JWT provider that is configured to read from a header"
}

// checkSecurity finds fault with a SecurityPolicy for routes of HTTP. Those for TCPRoutes are
// judged where they meet what is above them.
func checkSecurity(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	if oidc := p.Object.Body.At("spec", "oidc"); !oidc.IsNull() {
		if fault := explainInvalidIssuer(oidc.Text("provider", "issuer")); fault != "" {
			return "OIDC: " + fault, nil
		}
	}
	if slices.ContainsFunc(p.Refs, func(t policy.TargetRef) bool {
		return t.Ref.Kind != "HTTPRoute" &&
			t.Ref.Kind != "GRPCRoute"
	}) {
		return "", nil
	}
	if fault := explainInvalidForHTTP(mergedSpec{child: p}); fault != "" {
		return "invalid SecurityPolicy: " + fault, nil
	}
	return "", nil
}

// explainInvalidIssuer is what the controller holds against the issuer of an OIDC provider, "" for
// nothing. Only the newer releases look at it.
func explainInvalidIssuer(raw string) string {
	issuer, err := url.Parse(raw)
	switch {
	case raw == "": // the API server wants one
	case err != nil:
		return "invalid issuer URL: " + err.Error()
	case issuer.Scheme != "https":
		return "issuer URL must use https scheme"
	case issuer.Hostname() == "":
		return "issuer URL must include a host"
	case issuer.User != nil:
		return "issuer URL must not include userinfo"
	case strings.Contains(raw, "?"):
		return "issuer URL must not include a query"
	case strings.Contains(raw, "#"):
		return "issuer URL must not include a fragment"
	}
	return ""
}
