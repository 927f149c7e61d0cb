package load

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// hideCredentials takes credentials out of the addresses of charts, repositories and other parts
// that are elsewhere, which problems name.
func hideCredentials(s *model.Snapshot) {
	for i := range s.Problems {
		p := &s.Problems[i]
		p.Message, p.Hint = document.HideCredentials(p.Message), document.HideCredentials(p.Hint)
	}
	for i := range s.Omissions {
		o := &s.Omissions[i]
		o.By, o.Why = document.HideCredentials(o.By), document.HideCredentials(o.Why)
	}
}
