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
		r.Object(e, map[string]form.Field{"at": r.Path(&f.At), "words": r.Texts(&f.Words),
			"healthy": r.Texts(&f.Healthy), "progressing": r.Texts(&f.Progressing)})
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
			r.Reader, &s.Refuses, "report", "refuse"), "accepted": r.readAccepted, "health": r.readHealth,
		"inForce": func(n *yaml.Node) {
			r.Object(n, map[string]form.Field{"type": r.Text(&s.Type), "all": r.Text(&s.All), "some": r.Text(&s.Some),
				"none": r.Text(&s.None), "noScope": r.Text(&s.NoScope)})
		}})
	if s.Health == nil && s.Func == "" && !s.NoConditions {
		s.Health = usualHealth(*s)
	}
}

// readHealth reads what conditions mean for the health of a policy.
func (r statusReader) readHealth(n *yaml.Node) {
	w := &policy.HealthWords{}
	r.Object(n, map[string]form.Field{"own": r.Flag(&w.Own), "required": r.Texts(&w.Required),
		"judged": r.Texts(&w.Judged), "adverse": r.Texts(&w.Adverse), "mentioned": r.Texts(&w.Mentioned)})
	if len(w.Required)+len(w.Judged)+len(w.Adverse) == 0 {
		r.Fail(n, "one of required, judged and adverse is needed")
	}
	r.kind.Status.Health = w
}

// usualHealth is what the usual conditions mean for the health of a policy, in a kind's own words: it
// must be accepted, and in force where that is reported.
func usualHealth(s policy.StatusWords) *policy.HealthWords {
	w := &policy.HealthWords{Required: []string{string(gatewayv1.PolicyConditionAccepted)}}
	if s.Accepted != nil {
		w.Required[0] = s.Accepted.Type
	}
	switch {
	case s.Accepted != nil && s.Accepted.Alone:
		return w
	case s.NoScope != "": // every policy that is accepted has it
		w.Required = append(w.Required, s.Type)
	default:
		w.Judged = []string{s.Type}
	}
	w.Mentioned = []string{s.Some}
	return w
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
