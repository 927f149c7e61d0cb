package gatewayapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// backendTLS has an entry for every Gateway with a route to a Service that the policy targets, whichever of the Service's ports it means
// (gatewayapi G53). Without any there is no one to write a status.
func backendTLS(in status.Input) []status.Ancestor {
	if len(in.Fate.Targets) == 0 {
		out := status.Usual(in)
		out[0].Conditions = out[0].Conditions[:1] // there is nothing to be in force on
		return out
	}
	var all []status.Ancestor
	winners := map[model.Ref]*model.Ref{} // by Gateway: who has the policy's places there; nil if it has one
	for _, id := range in.Fate.Targets {
		winner := conflict(in, id)
		for _, a := range status.GatewaysAbove(in.Resolution, in.Resolution.Node(id).Ref.Whole()) {
			if by, known := winners[*a.Ref]; !known {
				all = append(all, a)
				winners[*a.Ref] = winner
			} else if by != nil {
				winners[*a.Ref] = winner
			}
		}
	}
	slices.SortFunc(all, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	accepted, resolved := judge(in)
	for i := range all {
		all[i].Conditions = []status.Condition{accepted, resolved}
		if by := winners[*all[i].Ref]; by != nil && accepted.Status == "True" {
			all[i].Conditions[0] = status.Condition{Type: "Accepted", Status: "False", Reason: "Conflicted", Message: "conflicts with " + by.FullName() + ", which comes first by age and name"}
		}
	}
	return all
}

// conflict is the policy that has the place of this one at a target, nil if it has it itself. Places are told apart by Service and section:
// a policy for a port and one for the whole Service do not conflict.
func conflict(in status.Input, id topology.NodeID) *model.Ref {
	if first := in.Kind.At(id)[0].Ref(); first != in.Fate.Policy.Ref() {
		return &first
	}
	return nil
}

// judge is what the policy says about itself: whether its certificates of authorities are there, and whether any of them is. The key ca.crt
// must be there in any case; what it holds is a matter of gatewayapi.checkCertificates (G58).
func judge(in status.Input) (accepted, resolved status.Condition) {
	accepted = status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted", Message: "the policy has been accepted"}
	resolved = status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs", Message: "all references are resolved"}
	validation := in.Fate.Policy.Object.Body.At("spec", "validation")
	refs := validation.Field("caCertificateRefs")
	good, open := 0, ""
	for _, v := range refs.Items {
		flaw, what := in.Resolution.Graph.Authority(model.Ref{Group: v.Text("group"), Kind: v.Text("kind"), Namespace: in.Fate.Policy.Object.Ref.Namespace, Name: v.Text("name")})
		switch flaw {
		case topology.NoFlaw:
			good++
		case topology.WithheldCertificate:
			open = cmp.Or(open, what)
		default:
			if resolved.Status == "True" {
				resolved.Status, resolved.Reason, resolved.Message = "False", reasons[flaw], what
			}
		}
	}
	if open != "" && resolved.Status == "True" {
		resolved.Status, resolved.Reason, resolved.Message = "Unknown", "NotEvaluated", open
	}
	wellKnown := validation.Text("wellKnownCACertificates")
	switch {
	case refs.Len() > 0 && good == 0 && open == "":
		accepted.Status, accepted.Reason, accepted.Message = "False", "NoValidCACertificate", "no certificate of an authority is valid: "+resolved.Message
	case refs.Len() > 0 && good == 0:
		accepted.Status, accepted.Reason, accepted.Message = "Unknown", "NotEvaluated", "whether a certificate of an authority is valid is not known: "+open
	case wellKnown != "" && wellKnown != "System" && !strings.Contains(wellKnown, "/"): // with a domain it is an implementation's
		accepted.Status, accepted.Reason, accepted.Message = "False", "Invalid", "wellKnownCACertificates is "+wellKnown+", which is not System"
	}
	return accepted, resolved
}

var reasons = map[topology.Flaw]string{
	topology.WrongCertificateKind:  "InvalidKind",
	topology.MissingCertificate:    "InvalidCACertificateRef",
	topology.IncompleteCertificate: "InvalidCACertificateRef",
	topology.MalformedCertificate:  "InvalidCACertificateRef",
}
