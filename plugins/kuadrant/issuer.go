package kuadrant

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// checkIssuer looks for the Issuer (of the policy's namespace) or ClusterIssuer that a TLSPolicy
// names. The operator refuses a policy without one. That it is not in the input need not mean that
// it does not exist.
func checkIssuer(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	o := p.Object
	ref := model.Ref{Group: "cert-manager.io", Kind: "Issuer", Namespace: o.Ref.Namespace,
		Name: o.Text("spec", "issuerRef", "name")}
	if o.Text("spec", "issuerRef", "kind") == "ClusterIssuer" {
		ref.Kind, ref.Namespace = "ClusterIssuer", ""
	}
	switch e := in.FindExistence(ref); e.Presence {
	case model.Present:
		return "", nil
	case model.NotKnown:
		unread := model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: e.Why + ": cannot tell whether it exists"}.At(o, "spec", "issuerRef")
		return "", []model.Problem{unread}
	case model.Missing:
		return "unable to find issuer", nil
	}
	missing := model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: fmt.Sprintf("%s is not in the input and counts as missing; it may exist outside of it", ref),
		Hint:    "add its manifest if it exists"}.At(o, "spec", "issuerRef")
	return "unable to find issuer", []model.Problem{missing}
}
