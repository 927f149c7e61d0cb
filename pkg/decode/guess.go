package decode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// guessReader finds what of a policy of a kind without a descriptor is not understood, and could
// change an answer.
type guessReader struct {
	*decoder
	crossesNamespaces bool // something that may be a reference to targets is about namespaces
}

// readUncertain notes what of a policy without a descriptor is not understood, and could change an
// answer: fields that other kinds merge by, and what may be a reference to targets.
func (d *guessReader) readUncertain() {
	for _, at := range d.mergeFields() {
		d.policy.Uncertain = append(d.policy.Uncertain,
			d.newUncertainty(at, "other kinds merge by such a field; its meaning"))
	}
	for key, value := range d.body.Fields {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) {
			d.findUnknownRefs([]string{key}, value)
		}
	}
	slices.Sort(d.policy.UnknownRefFields)
	switch fields := strings.Join(d.policy.UnknownRefFields, ", "); {
	case fields != "" && len(d.policy.Refs) == 0:
		d.reportUnknownTargets("%s: what the policy targets is unknown without a descriptor of %s", fields)
	case fields != "":
		d.reportUnknownTargets("%s: what else the policy targets is unknown without a descriptor of %s", fields)
	case len(d.policy.Refs) == 0:
		referenceReader{d.decoder}.reportNoTarget()
		if !d.kind.Guess.NeedsTarget {
			d.reportUnknownTargets(
				"%s has no target reference: whether such a policy applies anywhere is unknown without a descriptor of %s", strings.Join(d.kind.Content.At, "."))
		}
	}
}

// reportUnknownTargets reports that it is not known where the policy holds. That counts in its
// namespace, and everywhere if it may hold in others.
func (d *guessReader) reportUnknownTargets(format, fields string) {
	p := d.addProblem(model.NotEvaluated, d.kind.Content.At, format, fields, d.kind.Name())
	p.Hint = policy.DescribeHint
	if d.crossesNamespaces {
		p.Ref, p.Message = d.kind.AllPoliciesRef(), p.Ref.String()+": "+p.Message
	}
}

func (d *guessReader) newUncertainty(at []string, what string) policy.Uncertainty {
	field := model.FormatFieldPath(at)
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: policy.DescribeHint,
		Message: fmt.Sprintf("%s: %s is unknown without a descriptor of %s", field, what,
			d.kind.Name())}.At(d.policy.Object, at...)
	return policy.Uncertainty{Field: field, Problem: p}
}
