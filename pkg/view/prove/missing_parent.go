package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// findMissingParents returns the problems of routes asked about that name a Gateway which is not in
// the input or may not be read, so that it is not known which requests come to them.
func (p *prover) findMissingParents() []model.Problem {
	r := p.collector.Resolution
	open := map[string]*model.Tally{}
	for _, id := range r.Graph.Order(topology.Traffic) {
		n := r.Node(id)
		if n.Role != topology.Route || n.Hop > 0 || n.Object == nil || p.q.Routes != nil && !p.q.Routes(n.Object) ||
			!p.canTakeRequests(n.Object) {
			continue
		}
		for _, a := range r.Graph.Attachments(id) {
			if a.State != topology.Unknown && !a.Missing || gatewayapi.IsMeshParent(a.Parent.GroupKind()) ||
				!p.isAskedParent(a.Parent) {
				continue
			}
			why := a.Reason
			if a.Missing {
				why = a.Parent.WithoutSection().String() + " is not in the input"
				if a.State == topology.Unknown {
					why = a.Parent.WithoutSection().String() + " is forbidden"
				}
			}
			if open[why] == nil {
				open[why] = &model.Tally{}
			}
			open[why].Add(n.Ref.String())
		}
	}
	var out []model.Problem
	for why, routes := range open {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Hint: view.MissingObjectHint(r.Snapshot),
			Message: fmt.Sprintf("cannot tell: %s, which %s names (%s)", why, view.FormatCount(routes.Count, "route"),
				routes)})
	}
	return out
}

// canTakeRequests reports whether a route may take requests to the hosts that are asked about.
func (p *prover) canTakeRequests(route *model.Object) bool {
	asked := p.q.Scope.Hosts
	names := route.Body.At("spec", "hostnames")
	if len(asked) == 0 || names.Len() == 0 {
		return true
	}
	for _, name := range names.Items {
		host := strings.ToLower(name.Text())
		if slices.ContainsFunc(asked, func(a string) bool {
			return gatewayapi.CoversHostname(strings.ToLower(a), host) ||
				gatewayapi.CoversHostname(host, strings.ToLower(a)) || a == "*"
		}) {
			return true
		}
	}
	return false
}

// isAskedParent reports whether requests that come by a parent of a route are asked about.
func (p *prover) isAskedParent(parent model.Ref) bool {
	gateway := p.q.Scope.Destination.Gateway
	return gateway == topology.None || parent.WithoutSection() == p.collector.Resolution.Node(gateway).Ref
}
