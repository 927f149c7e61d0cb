package report

import (
	"io"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// JSON writes a report as its struct tags say.
func JSON(w io.Writer, r *Report) error {
	return render.WriteDocument(w, opening{r.Envelope, r.Facts, r.RulesWithoutPolicy},
		func(yield func(string, any) bool) {
			_ = yield("topology", r.Topology) && yield("effective", r.Effective) && yield("overridden", r.Overridden) &&
				yield("status", r.Status) && yield("findings", r.Findings) && yield("classes", r.Classes) &&
				yield("protection", r.Protection) && (r.Dataplane == nil || yield("dataplane", r.Dataplane))
		})
}
