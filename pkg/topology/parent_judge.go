package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ParentRules is what an implementation without Gateways makes of the parents of routes that it
// knows: its own kinds, or Services.
type ParentRules struct {
	// Judge prepares the judgement of parentRefs; nil: nothing of the implementation is in the input. It is asked with the defaults of a parentRef
	// filled in, and returns nil for parents that are not its business.
	Judge func(in *model.Snapshot, s model.Settings) func(route *model.Object, parent model.Ref, port int32) *ParentVerdict

	CoreName       string // a name of the group that has none, as its users write it
	RoutesTogether bool   // clients get the routes of their namespace beside those of the Service's, not in their place
}

// ParentVerdict is what an implementation makes of a route at a parent.
type ParentVerdict struct {
	State      AttachmentState // Accepted, or the reason of its condition Accepted
	Reason     string
	Missing    bool        // nothing but that a Service is not in the input keeps the route out: whether it exists is as well known as ever
	Refs       *Unresolved // what its condition ResolvedRefs says; nil: it writes none
	Controller string      // whose condition that is
}

// AddParentRules has an implementation decide about parents of routes.
func (b *Builder) AddParentRules(p ParentRules) { b.parents = append(b.parents, p) }

// AddRouteKind makes the objects of a kind routes, which are read like those of a kind of the
// Gateway API. Parents of the given kinds take them as they take those; of others only
// implementations that judge parents do.
func (b *Builder) AddRouteKind(gk, like model.GroupKind, parents ...model.GroupKind) {
	if isRoute(like) && !isRoute(gk) && !slices.ContainsFunc(b.routeAliases, func(k routeAlias) bool { return k.kind == gk }) {
		b.routeAliases = append(b.routeAliases, routeAlias{kind: gk, like: like, parents: parents})
	}
}

// routeAlias is a kind of routes that are read like those of another one, and the kinds of parents
// that take them.
type routeAlias struct {
	kind, like model.GroupKind
	parents    []model.GroupKind
}

// parentJudge asks the implementations about parents.
type parentJudge struct {
	judges         []func(route *model.Object, parent model.Ref, port int32) *ParentVerdict
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
func (j *parentJudge) judgeParent(route *model.Object, p parentRef) *ParentVerdict {
	for _, judge := range j.judges {
		if v := judge(route, p.ref, p.port); v != nil {
			return v
		}
	}
	return nil
}

// withCoreGroup returns a reference with the group that has no name, where an implementation calls
// it otherwise.
func withCoreGroup(ref model.Ref, names []string) model.Ref {
	if slices.Contains(names, ref.Group) {
		ref.Group = coreGroup
	}
	return ref
}

// attachJudged writes down what an implementation says about a parent. A Service that takes the route sends it the requests of clients.
func (w *routeAttacher) attachJudged(r *routeDraft, a Attachment, v *ParentVerdict) {
	a.State, a.Reason, a.Verdict = v.State, v.Reason, v
	service := withCoreGroup(a.Parent, w.parentJudge.coreGroupNames)
	switch {
	case !IsMeshParent(service.GroupKind()):
	case v.Missing:
		missing := a
		missing.Parent = service
		missing = w.judgeMissingService(r, missing)
		a.State, a.Missing, a.Reason = missing.State, missing.Missing, missing.Reason
	case v.State == Accepted:
		a.Hostnames = anyHost
		bound := serviceBinding{service: service.WithoutSection(), namespace: r.object.Ref.Namespace, kind: r.kind, route: r.id, row: len(w.table), decided: true}
		if a.Port != 0 {
			if object := w.in.Get(bound.service); object != nil {
				bound.port = findServicePort(object, "", a.Port, r.kind == udpRouteKind)
			}
			if bound.port == nil { // accepted all the same, and no client uses that port
				break
			}
		}
		w.services.all = append(w.services.all, bound)
	}
	w.table = append(w.table, a)
}

// RouteKind returns the name of the Gateway API's kind of routes that a route is read as.
func (g *Graph) RouteKind(route NodeID) string {
	n := &g.nodes.list[route]
	for _, k := range g.parts.RouteAliases {
		if k.kind == n.Ref.GroupKind() {
			return k.like.Kind
		}
	}
	return n.Ref.Kind
}

// RoutesTogether reports whether clients of Services get the routes of their namespace beside those of the Service's.
func (g *Graph) RoutesTogether() bool { return g.parts.RoutesTogether }

// isJudged reports whether implementations without Gateways decided about all parents of a route.
func isJudged(all []Attachment) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(a Attachment) bool { return a.Verdict == nil })
}
