package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// ParentRules is what an implementation without Gateways makes of the parents of routes that it
// knows: its own kinds, or Services.
type ParentRules struct {
	// Judge prepares the judgement of parentRefs; nil: nothing of the implementation is in the
	// input. It is asked with the defaults of a parentRef filled in, and returns nil for parents
	// that are not its business.
	Judge func(in *model.Snapshot, s model.Settings) func(route *model.Object, parent model.Ref,
		port int32) *topology.ParentVerdict

	CoreName       string // a name of the group that has none, as its users write it
	RoutesTogether bool   // clients get the routes of their namespace beside those of the Service's, not in their place
}

// AddParentRules has an implementation decide about parents of routes.
func (b *Builder) AddParentRules(p ParentRules) { b.parents = append(b.parents, p) }

// AddRouteKind makes the objects of a kind routes, which are read like those of a kind of the
// Gateway API. Parents of the given kinds take them as they take those; of others only
// implementations that judge parents do.
func (b *Builder) AddRouteKind(gk, like model.GroupKind, parents ...model.GroupKind) {
	if gatewayapi.IsRoute(like) && !gatewayapi.IsRoute(gk) && !slices.ContainsFunc(b.routeAliases,
		func(k topology.RouteAlias) bool { return k.Kind == gk }) {
		b.routeAliases = append(b.routeAliases, topology.RouteAlias{Kind: gk, Like: like, Parents: parents})
	}
}

// parentJudge asks the implementations about parents.
type parentJudge struct {
	judges         []func(route *model.Object, parent model.Ref, port int32) *topology.ParentVerdict
	coreGroupNames []string // names of the group that has none
	routesTogether bool
}

func (d *draft) newParentJudge() parentJudge {
	var out parentJudge
	for _, p := range d.Builder.parents {
		judge := p.Judge(d.in, d.settings)
		if judge == nil {
			continue
		}
		out.judges = append(out.judges, judge)
		out.routesTogether = out.routesTogether || p.RoutesTogether
		if p.CoreName != "" {
			out.coreGroupNames = append(out.coreGroupNames, p.CoreName)
		}
	}
	return out
}

// judgeParent returns what the first implementation that knows a parent says about a route there.
func (j *parentJudge) judgeParent(route *model.Object, p parentRef) *topology.ParentVerdict {
	for _, judge := range j.judges {
		if v := judge(route, p.ref, p.port); v != nil {
			return v
		}
	}
	return nil
}

// attachJudged writes down what an implementation says about a parent. A Service that takes the
// route sends it the requests of clients.
func (w *routeAttacher) attachJudged(r *routeDraft, a topology.Attachment, v *topology.ParentVerdict) {
	a.State, a.Reason, a.Verdict = v.State, v.Reason, v
	service := gatewayapi.WithCoreGroup(a.Parent, w.parentJudge.coreGroupNames)
	switch {
	case !gatewayapi.IsMeshParent(service.GroupKind()):
	case v.Missing:
		missing := a
		missing.Parent = service
		missing = w.judgeMissingService(r, missing)
		a.State, a.Missing, a.Reason = missing.State, missing.Missing, missing.Reason
	case v.State == topology.Accepted:
		a.Hostnames = gatewayapi.AnyHost
		bound := serviceBinding{service: service.WithoutSection(), namespace: r.object.Ref.Namespace, kind: r.kind,
			route: r.id, row: len(w.table), decided: true}
		if a.Port != 0 {
			if object := w.in.Get(bound.service); object != nil {
				bound.port = manifest.FindServicePort(object, "", a.Port, r.kind == gatewayapi.UDPRouteKind)
			}
			if bound.port == nil { // accepted all the same, and no client uses that port
				break
			}
		}
		w.services.all = append(w.services.all, bound)
	}
	w.table = append(w.table, a)
}
