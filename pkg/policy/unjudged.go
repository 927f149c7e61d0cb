package policy

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"go.yaml.in/yaml/v3"
)

// Unjudged is a field that does something which is not evaluated: a policy that sets it makes answers incomplete.
type Unjudged struct {
	Path    []string // from the object's root
	Message string
}

// unjudged reports what is not evaluated of the policy.
func (d *decoder) unjudged() {
	for _, u := range d.kind.Unjudged {
		if !d.body.At(u.Path...).IsNull() {
			d.problem(model.NotEvaluated, u.Path, "%s: %s", strings.Join(u.Path, "."), u.Message)
		}
	}
}

func (r *kindReader) notEvaluated(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		var u Unjudged
		r.object(e, map[string]field{"path": r.path(&u.Path), "message": r.text(&u.Message), "when": nil})
		if u.Path == nil || u.Message == "" {
			r.fail(e, "what is not evaluated needs \"path\" and \"message\"")
		}
		r.kind.Unjudged = append(r.kind.Unjudged, u)
	})
}
