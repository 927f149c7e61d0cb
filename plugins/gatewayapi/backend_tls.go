package gatewayapi

import (
	"cmp"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// backendTLSAncestors is what is written about a BackendTLSPolicy (gatewayapi G53).
func backendTLSAncestors(in status.Input) []status.Ancestor {
	accepted, resolved := judgeCertificates(in)
	return ancestorsPerGateway(in, accepted, resolved)
}

// judgeCertificates is what the policy says about itself: whether its certificates of authorities
// are there, and whether any of them is. The key ca.crt must be there in any case; what it holds is
// a matter of gatewayapi.checkCertificates (G58).
func judgeCertificates(in status.Input) (accepted, resolved status.Condition) {
	accepted = acceptedCondition
	resolved = status.Condition{Type: string(gatewayv1.BackendTLSPolicyConditionResolvedRefs), Status: "True",
		Reason: string(gatewayv1.BackendTLSPolicyReasonResolvedRefs), Message: "all references are resolved"}
	validation := in.Outcome.Policy.Object.Body.At("spec", "validation")
	refs := validation.Field("caCertificateRefs")
	good, open := 0, ""
	for _, v := range refs.Items {
		flaw, what := in.Resolution.Graph.CheckAuthority(model.Ref{Group: v.Text("group"), Kind: v.Text("kind"),
			Namespace: in.Outcome.Policy.Object.Ref.Namespace, Name: v.Text("name")})
		switch flaw {
		case reference.NoFlaw:
			good++
		case reference.WithheldCertificate:
			open = cmp.Or(open, what)
		default:
			if resolved.Status == "True" {
				resolved.Status, resolved.Reason, resolved.Message = "False", reasonByFlaw[flaw], what
			}
		}
	}
	if open != "" && resolved.Status == "True" {
		resolved.Status, resolved.Reason, resolved.Message = "Unknown", "NotEvaluated", open
	}
	wellKnown := validation.Text("wellKnownCACertificates")
	switch {
	case refs.Len() > 0 && good == 0 && open == "":
		accepted.Status, accepted.Reason, accepted.Message = "False",
			string(gatewayv1.BackendTLSPolicyReasonNoValidCACertificate), "no CA certificate is valid: "+
				resolved.Message
	case refs.Len() > 0 && good == 0:
		accepted.Status, accepted.Reason, accepted.Message = "Unknown", "NotEvaluated",
			"it is unknown whether a CA certificate is valid: "+open
	// with a domain it is an implementation's
	case wellKnown != "" && wellKnown != "System" && !strings.Contains(wellKnown, "/"):
		accepted.Status, accepted.Reason, accepted.Message = "False", string(gatewayv1.PolicyReasonInvalid),
			"wellKnownCACertificates is "+wellKnown+", which is not System"
	}
	return accepted, resolved
}

var reasonByFlaw = map[reference.CertificateFlaw]string{
	reference.WrongCertificateKind:  string(gatewayv1.BackendTLSPolicyReasonInvalidKind),
	reference.MissingCertificate:    string(gatewayv1.BackendTLSPolicyReasonInvalidCACertificateRef),
	reference.IncompleteCertificate: string(gatewayv1.BackendTLSPolicyReasonInvalidCACertificateRef),
	reference.MalformedCertificate:  string(gatewayv1.BackendTLSPolicyReasonInvalidCACertificateRef),
}
