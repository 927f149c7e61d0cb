package descriptor

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"go.yaml.in/yaml/v3"
)

// statusReader reads the words of a kind for its conditions.
type statusReader struct{ reader }

// states reads where the vendor writes words in the place of conditions.
func (r statusReader) states(n *yaml.Node) {
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

// read reads the kind's words for its conditions.
func (r statusReader) read(n *yaml.Node) {
	s := &r.kind.Status
	r.Object(n, map[string]form.Field{"func": r.remoteName(&s.Func, r.funcs.Writers, "to write conditions"), "marks": r.remote(&s.Marks, r.funcs.Markers, "to write marks"),
		"states": r.states, "complete": r.Texts(&s.Complete), "writes": r.writes, "ancestor": r.Word(new(string), []string{"none"}, "gateway", "target", "parentRef"), "overflow": either(r.Reader, &s.Refuses, "report", "refuse", "cut", "aggregate"), "accepted": r.accepted, "affected": nil,
		"inForce": func(n *yaml.Node) {
			r.Object(n, map[string]form.Field{"type": r.Text(&s.Type), "all": r.Text(&s.All), "some": r.Text(&s.Some), "none": r.Text(&s.None), "noScope": r.Text(&s.NoScope)})
		}})
}

// accepted reads the words for whether a policy is accepted.
func (r statusReader) accepted(n *yaml.Node) {
	w := &policy.AcceptedWords{
		Type: string(gatewayv1.PolicyConditionAccepted), Yes: string(gatewayv1.PolicyReasonAccepted), Conflicted: string(gatewayv1.PolicyReasonConflicted),
		Invalid: string(gatewayv1.PolicyReasonInvalid), NotFound: string(gatewayv1.PolicyReasonTargetNotFound), NotGiven: string(gatewayv1.RouteReasonRefNotPermitted),
	}
	r.Object(n, map[string]form.Field{"type": r.Text(&w.Type), "accepted": r.Text(&w.Yes), "conflicted": r.Text(&w.Conflicted), "invalid": r.Text(&w.Invalid),
		"notFound": r.Text(&w.NotFound), "notPermitted": r.Text(&w.NotGiven), "alone": r.Flag(&w.Alone)})
	r.kind.Status.Accepted = w
}

// writes reads whether the vendor reports anything at all.
func (r statusReader) writes(n *yaml.Node) {
	if n.Value == "unknown" {
		r.kind.Status.Silent, r.kind.Status.Unstated = true, true
		return
	}
	writes := true
	r.Flag(&writes)(n)
	r.kind.Status.Silent = !writes
}
