package protect

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// FindSettings returns what policies of a kind have in force on the path of an answer, before a backend
// is chosen: at the most specific node that has any. What policies in error leave open is not among
// them: gates tell that.
func FindSettings(r *resolve.Resolution, a *request.Answer, kind model.GroupKind) []*Settings {
	j := NewJudge(r, nil, Assumptions{})
	for _, id := range []topology.NodeID{a.Rule, a.Route, a.Listener, a.Gateway} {
		if id == topology.None {
			continue
		}
		through := []topology.NodeID{a.Listener}
		if id == a.Gateway {
			through = nil
		}
		if found := j.findInForce(kind, id, through); len(found) > 0 {
			return found
		}
	}
	return nil
}

// FindBackendSettings returns what policies of a kind have in force at the backends that the request
// may get to.
func FindBackendSettings(r *resolve.Resolution, a *request.Answer, kind model.GroupKind) []*Settings {
	j := NewJudge(r, nil, Assumptions{})
	var out []*Settings
	for i := range a.Backends {
		for _, id := range j.backendNodes(&a.Backends[i]) {
			out = append(out, j.findInForce(kind, id, []topology.NodeID{a.Listener, a.Rule})...)
		}
	}
	return out
}

// findInForce returns what one kind has in force at a node.
func (j *Judge) findInForce(kind model.GroupKind, id topology.NodeID, through []topology.NodeID) []*Settings {
	n := j.res.Node(id)
	var out []*Settings
	for _, k := range j.res.Kinds {
		if k.GroupKind != kind || !k.IsInUse() || !k.HasResultsAtNode(n) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.IsEmpty(s) || !j.isThroughAll(k, id, s, through) {
				continue
			}
			for _, one := range j.newSettings(k, id, s) {
				if one.fault == nil {
					out = append(out, one)
				}
			}
		}
	}
	return out
}
