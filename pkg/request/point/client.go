package point

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// FindClients returns what sends a request, as far as it is asked about: a Pod, or somebody in a
// namespace of whom nothing else is known. none: it is not asked about.
func (w *Walker) FindClients(a *request.Answer) []End {
	if a.Request.Client.Name != "" {
		if o := w.res.Snapshot.Get(a.Request.Client); o != nil {
			return []End{NewEnd(w.res, o)}
		}
	}
	if a.Request.From == "" {
		return nil
	}
	return []End{{Object: NewAssumedPod(a.Request.From, "", "", nil), Node: topology.None, AccountUnknown: true,
		LabelsUnknown: true}}
}
