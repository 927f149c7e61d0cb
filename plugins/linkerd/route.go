package linkerd

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The reasons of the condition Accepted.
const (
	accepted         = "Accepted"
	noMatchingParent = "NoMatchingParent"
	routeConflicted  = "RouteReasonConflicted"
)

// strength has the kinds of routes; on one parent only the strongest that is there is accepted (ST parent_has_conflicting_routes).
var strength = [][]model.GroupKind{{grpcRouteKind}, {httpRouteKind, ownRouteKind}, {tlsRouteKind}, {tcpRouteKind}}

// parentPort is a parent as parentRefs write it: one with a port is another one than the same without.
type parentPort struct {
	ref  model.Ref
	port int64
}

// routeJudge decides what becomes of routes at Servers, Services and EgressNetworks.
type routeJudge struct {
	in        *model.Snapshot
	set       settings
	strongest map[parentPort]int // the first kind in strength that names the parent
	by        map[parentPort]*model.Object
}

func newRouteJudge(in *model.Snapshot, set settings) *routeJudge {
	j := &routeJudge{in: in, set: set, strongest: map[parentPort]int{}, by: map[parentPort]*model.Object{}}
	for rank, kinds := range strength {
		for _, gk := range kinds {
			for _, o := range in.Of(gk) {
				for _, p := range o.Body.At("spec", "parentRefs").Items {
					at := portOf(o, p)
					if _, taken := j.strongest[at]; !taken && at.ref.Name != "" {
						j.strongest[at], j.by[at] = rank, o
					}
				}
			}
		}
	}
	return j
}

// parentKind is the kind of parents that Linkerd knows which a reference is to; false if it is to none.
func parentKind(r reference) (model.GroupKind, bool) {
	for _, gk := range []model.GroupKind{serviceKind, egressKind, serverKind} {
		if r.is(gk) {
			return gk, true
		}
	}
	return model.GroupKind{}, false
}

// portOf is the parent that a parentRef is to, with its port.
func portOf(route *model.Object, p model.Body) parentPort {
	r := readReference(p, parentGroup(route))
	gk, ok := parentKind(r)
	if !ok {
		return parentPort{}
	}
	port, _ := p.Field("port").Value().(int64)
	return parentPort{r.in(gk, route.Ref.Namespace), port}
}

// parent is the object that a parentRef is to; nil: there is none, or it is of no kind that Linkerd knows.
func (j *routeJudge) parent(route *model.Object, p model.Body) *model.Object {
	at := portOf(route, p)
	if at.ref.Name == "" {
		return nil
	}
	return j.in.Get(at.ref)
}

// parentVerdict is what Linkerd says about a route at a parent.
type parentVerdict struct {
	reason, why string
	missing     bool // the parent is not in the input
	by          *model.Object
}

// accepted decides about one parentRef, which has to be to a kind that Linkerd knows.
func (j *routeJudge) accepted(route *model.Object, p model.Body) parentVerdict {
	at := portOf(route, p)
	o := j.in.Get(at.ref)
	rank := slices.IndexFunc(strength, func(kinds []model.GroupKind) bool { return slices.Contains(kinds, route.Ref.GroupKind()) })
	switch {
	case at.ref.Kind == "Server" && o != nil:
		return parentVerdict{reason: accepted, why: "the Server takes the route"}
	case at.ref.Kind != "Server" && j.strongest[at] < rank: // whether or not the parent exists
		by := j.by[at]
		return parentVerdict{reason: routeConflicted, why: by.Ref.String() + " is on the same parent, and kind " + by.Ref.Kind + " goes before " + route.Ref.Kind, by: by}
	case o == nil:
		return parentVerdict{reason: noMatchingParent, why: at.ref.String() + " does not exist", missing: true}
	case at.ref.Kind == "EgressNetwork" && overlap(o, j.set) != "":
		return parentVerdict{reason: noMatchingParent, why: at.ref.String() + " is not accepted: " + overlap(o, j.set)}
	case at.ref.Kind == "Service":
		if ip := o.Text("spec", "clusterIP"); o.Text("spec", "type") == "ExternalName" || ip == "None" || ip == "" && j.in.Cluster != nil {
			return parentVerdict{reason: noMatchingParent, why: at.ref.String() + " has no cluster IP"}
		}
	}
	return parentVerdict{reason: accepted, why: "the " + at.ref.Kind + " takes the route"}
}
