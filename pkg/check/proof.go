package check

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
)

// The ids of what a proof finds.
const (
	proofRefuted = "ProofRefuted"
	proofUnknown = "ProofUnknown"
)

// ProofFindings is what a proof found, in the form of findings, and what documents them.
func ProofFindings(r *resolve.Resolution, proof *prove.Proof) ([]Finding, Catalogue) {
	rules := Catalogue{
		{ID: proofRefuted, Severities: faults, Summary: "a request is known for which a property does not hold",
			Fix: "see where it goes with `kubectl dopolicy request`, and change the route or the policies"},
		{ID: proofUnknown, Severities: faults, Summary: "cannot tell whether a property holds for all requests",
			Fix: "give what is missing, or say how the implementation does it with --vendor-setting"},
		spellingRule,
	}
	var out []Finding
	for i := range proof.Items {
		p := proof.Items[i].ToProblem(r, proofRefuted, model.Error)
		p.Hint, p.Message = "", "not "+proof.Property+": "+p.Message
		out = append(out, NewFinding(p))
	}
	for _, p := range proof.Problems {
		if p.Code == model.SpellingBypass {
			out = append(out, NewFinding(p))
		}
	}
	if proof.Result != prove.ProofUnknown {
		return out, rules
	}
	found := len(out)
	for _, u := range proof.Undecided {
		out = append(out, Finding{ID: proofUnknown, Severity: model.Error,
			Message: fmt.Sprintf("unknown whether %s: %s, such as %s: %s", proof.Property, view.FormatCount(u.Classes,
				"class of requests|classes of requests"), u.Example, u.Why)})
	}
	for _, p := range proof.Problems {
		if p.IsIncomplete() {
			out = append(out, Finding{ID: proofUnknown, Severity: model.Error, Ref: p.Ref, Origin: p.Origin,
				Message: "unknown whether " + proof.Property + ": " + p.Message, Hint: p.Hint})
		}
	}
	if len(out) == found {
		out = append(out, Finding{ID: proofUnknown, Severity: model.Error, Message: "unknown whether " +
			proof.Property + ": no such request gets through to a backend"})
	}
	return out, rules
}
