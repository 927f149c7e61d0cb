package point

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// judgeUnread lists the points at which policies may decide that nobody evaluates.
func (w *Walker) judgeUnread(h *Hop) []Point {
	all := unread.ConnectionPolicies(w.res)
	if len(all) == 0 {
		return nil
	}
	var out []Point
	for _, name := range []Name{Egress, Ingress} {
		end := &h.From
		if name == Ingress {
			end = &h.To
		}
		if end.Object == nil {
			continue
		}
		at := unread.ConnectionEnd{Node: end.Node, Namespace: end.Namespace(), Labels: workload.PodLabels(end.Object),
			Partial: end.LabelsUnknown}
		byKind := map[string]*Point{}
		var order []*Point
		for _, in := range all {
			ingress, egress := in.Directions()
			if name == Ingress && !ingress || name == Egress && !egress || !in.MayJudge(w.res, at) {
				continue
			}
			kind := w.res.Knowledge.PointKindOf(in.Object.Ref.GroupKind())
			if byKind[kind] == nil {
				byKind[kind] = &Point{Name: name, Kind: kind, Object: end.Ref(), Verdict: Depends, Port: h.WirePort,
					IgnoresRequests: true}
				order = append(order, byKind[kind])
			}
			p := byKind[kind]
			p.Policies, p.Unread = append(p.Policies, in.Object.Ref), append(p.Unread, in)
		}
		for _, p := range order {
			p.Because = fmt.Sprintf("cannot tell what %s says: policies of kind %s are not evaluated",
				p.Policies[0], p.Policies[0].GroupKind())
			if more := len(p.Policies) - 1; more > 0 {
				p.Because += fmt.Sprintf(" (and %d more)", more)
			}
			out = append(out, *p)
		}
	}
	return out
}
