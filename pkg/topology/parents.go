package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Parents is what an implementation without Gateways makes of the parents of routes that it knows: its own kinds, or Services.
type Parents struct {
	// Judge prepares the judgement of parentRefs; nil: nothing of the implementation is in the input. It is asked with the defaults of a parentRef
	// filled in, and returns nil for parents that are not its business.
	Judge func(in *model.Snapshot, s model.Settings) func(route *model.Object, parent model.Ref, port int32) *ParentVerdict

	CoreName string // a name of the group that has none, as its users write it
	Together bool   // clients get the routes of their namespace beside those of the Service's, not in their place
}

// ParentVerdict is what an implementation makes of a route at a parent.
type ParentVerdict struct {
	State      State // Accepted, or the reason of its condition Accepted
	Reason     string
	Missing    bool        // nothing but that a Service is not in the input keeps the route out: whether it exists is as well known as ever
	Refs       *Unresolved // what its condition ResolvedRefs says; nil: it writes none
	Controller string      // whose condition that is
}

// JudgeParents has an implementation decide about parents of routes.
func (b *Builder) JudgeParents(p Parents) { b.parents = append(b.parents, p) }

// RoutesLike makes the objects of a kind routes, which are read like those of a kind of the Gateway API. Parents of the given kinds take them as
// they take those; of others only implementations that judge parents do.
func (b *Builder) RoutesLike(gk, like model.GroupKind, parents ...model.GroupKind) {
	if isRoute(like) && !isRoute(gk) && !slices.ContainsFunc(b.alike, func(k likeness) bool { return k.kind == gk }) {
		b.alike = append(b.alike, likeness{gk, like, parents})
	}
}

// likeness is a kind of routes that are read like those of another one, and the kinds of parents that take them.
type likeness struct {
	kind, like model.GroupKind
	parents    []model.GroupKind
}

// parentJudge asks the implementations about parents.
type parentJudge struct {
	judges   []func(route *model.Object, parent model.Ref, port int32) *ParentVerdict
	core     []string // names of the group that has none
	together bool
}

func (d *draft) parentJudge() parentJudge {
	var out parentJudge
	for _, p := range d.Builder.parents {
		judge := p.Judge(d.in, d.settings)
		if judge == nil {
			continue
		}
		out.judges = append(out.judges, judge)
		out.together = out.together || p.Together
		if p.CoreName != "" {
			out.core = append(out.core, p.CoreName)
		}
	}
	return out
}

// parent is what the first implementation that knows a parent says about a route there.
func (j *parentJudge) parent(route *model.Object, p parentRef) *ParentVerdict {
	for _, judge := range j.judges {
		if v := judge(route, p.ref, p.port); v != nil {
			return v
		}
	}
	return nil
}

// plain is a reference with the group that has no name, where an implementation calls it otherwise.
func plain(ref model.Ref, names []string) model.Ref {
	if slices.Contains(names, ref.Group) {
		ref.Group = coreGroup
	}
	return ref
}

// attachJudged writes down what an implementation says about a parent. A Service that takes the route sends it the requests of clients.
func (w *tableWriter) attachJudged(r *route, a Attachment, v *ParentVerdict) {
	a.State, a.Reason, a.Verdict = v.State, v.Reason, v
	service := plain(a.Parent, w.decides.core)
	switch {
	case !MeshParent(service.GroupKind()):
	case v.Missing:
		missing := a
		missing.Parent = service
		missing = w.withoutService(r, missing)
		a.State, a.Missing, a.Reason = missing.State, missing.Missing, missing.Reason
	case v.State == Accepted:
		a.Hostnames = anyHost
		bound := binding{service: service.WithoutSection(), namespace: r.object.Ref.Namespace, kind: r.kind, route: r.id, row: len(w.table), decided: true}
		if a.Port != 0 {
			if object := w.in.Get(bound.service); object != nil {
				bound.port = findPort(object, "", a.Port, r.kind == udpRouteKind)
			}
			if bound.port == nil { // accepted all the same, and nobody asks there
				break
			}
		}
		w.services.all = append(w.services.all, bound)
	}
	w.table = append(w.table, a)
}

// RouteKind is the name of the Gateway API's kind of routes that a route is read as.
func (g *Graph) RouteKind(route NodeID) string {
	n := &g.nodes[route]
	for _, k := range g.alike {
		if k.kind == n.Ref.GroupKind() {
			return k.like.Kind
		}
	}
	return n.Ref.Kind
}

// RoutesTogether reports whether clients of Services get the routes of their namespace beside those of the Service's.
func (g *Graph) RoutesTogether() bool { return g.together }

// judged reports whether implementations without Gateways decided about all parents of a route.
func judged(all []Attachment) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(a Attachment) bool { return a.Verdict == nil })
}
