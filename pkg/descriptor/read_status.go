package descriptor

import (
	"go.yaml.in/yaml/v3"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// statusReader reads the words of a kind for its conditions.
type statusReader struct{ reader }

// readStates reads where the vendor writes words in the place of conditions.
func (r statusReader) readStates(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var f policy.StateField
		r.Object(e, map[string]form.Field{"at": r.Path(&f.At), "words": r.Texts(&f.Words)})
		if f.At == nil {
			r.Fail(e, "field \"at\" is missing")
			return
		}
		r.kind.Status.States = append(r.kind.Status.States, f)
	})
}

// readStatus reads the kind's words for its conditions.
func (r statusReader) readStatus(n *yaml.Node) {
	s := &r.kind.Status
	r.Object(n, map[string]form.Field{"func": r.remoteNameField(&s.Func, r.funcs.Writers, "to write conditions"),
		"marks":  r.remoteFuncField(&s.Marks, r.funcs.Markers, "to write marks"),
		"states": r.readStates, "complete": r.Texts(&s.Complete), "writes": r.readWrites, "overflow": eitherField(
			r.Reader, &s.Refuses, "report", "refuse"), "accepted": r.readAccepted,
		"inForce": func(n *yaml.Node) {
			r.Object(n, map[string]form.Field{"type": r.Text(&s.Type), "all": r.Text(&s.All), "some": r.Text(&s.Some),
				"none": r.Text(&s.None), "noScope": r.Text(&s.NoScope)})
		}})
}

// readAccepted reads the words for whether a policy is accepted.
func (r statusReader) readAccepted(n *yaml.Node) {
	w := &policy.AcceptedWords{Type: string(gatewayv1.PolicyConditionAccepted),
		Yes: string(gatewayv1.PolicyReasonAccepted), Invalid: string(gatewayv1.PolicyReasonInvalid)}
	r.Object(n, map[string]form.Field{"type": r.Text(&w.Type), "accepted": r.Text(&w.Yes),
		"invalid": r.Text(&w.Invalid), "alone": r.Flag(&w.Alone)})
	r.kind.Status.Accepted = w
}

// readWrites reads whether the vendor reports anything at all.
func (r statusReader) readWrites(n *yaml.Node) {
	if n.Value == "unknown" {
		r.kind.Status.NoConditions, r.kind.Status.Unstated = true, true
		return
	}
	writes := true
	r.Flag(&writes)(n)
	r.kind.Status.NoConditions = !writes
}
