package prove

import (
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ToProblem returns the counterexample as a finding about the rule that takes the request.
func (e *Counterexample) ToProblem(r *resolve.Resolution, code model.Code, severity model.Severity) model.Problem {
	message := e.sentence
	if e.Command != "" {
		message = e.Command + " goes to " + e.PathText()
		if e.sentence != "" {
			message += ", and yet: " + e.sentence
		}
		if e.Classes > 1 {
			message += fmt.Sprintf(" (and %s more)", view.FormatCount(e.Classes-1,
				"class of requests|classes of requests"))
		}
	}
	out := model.Problem{Code: code, Severity: severity, Ref: e.Route, Message: message,
		Hint: "see why with: kubectl dopolicy prove"}
	if e.Route == nil {
		return out
	}
	if o := r.Snapshot.Get(e.Route.WithoutSection()); o != nil {
		origin := o.OriginOf("spec", "rules", strconv.Itoa(*e.Rule))
		out.Origin = &origin
	}
	return out
}

// ListenerPaths returns the path through the listener that the request comes to.
func (e *Counterexample) ListenerPaths() []view.Path {
	if e.Gateway == "" {
		return nil
	}
	return []view.Path{{Gateway: e.Gateway, ListenerSet: e.ListenerSet, Listener: e.Listener}}
}
