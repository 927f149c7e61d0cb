package linkerd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	topologyreference "github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// The reasons of the condition Accepted.
const (
	accepted         = "Accepted"
	noMatchingParent = "NoMatchingParent"
	unknown          = string(topology.Unknown)
	routeConflicted  = "RouteReasonConflicted"
)

// routePrecedence has the kinds of routes; on one parent only the strongest that is there is
// accepted (ST parent_has_conflicting_routes).
var routePrecedence = [][]model.GroupKind{{grpcRouteKind}, {httpRouteKind, ownRouteKind}, {tlsRouteKind},
	{tcpRouteKind}}

// parentPort is a parent as parentRefs write it: one with a port is another one than the same
// without.
type parentPort struct {
	ref  model.Ref
	port int64
}

// routeJudge decides what becomes of routes at Servers, Services and EgressNetworks.
type routeJudge struct {
	in             *model.Snapshot
	set            settings
	strongest      map[parentPort]int // the first kind in strength that names the parent
	strongestRoute map[parentPort]*model.Object
	visible        map[string]bool // namespaces that the manifests show
}

func newRouteJudge(in *model.Snapshot, set settings) *routeJudge {
	j := &routeJudge{in: in, set: set, strongest: map[parentPort]int{}, strongestRoute: map[parentPort]*model.Object{}}
	for rank, kinds := range routePrecedence {
		for _, gk := range kinds {
			for _, o := range in.OfKind(gk) {
				for _, p := range o.Body.At("spec", "parentRefs").Items {
					at := readParentPort(o, p)
					if _, taken := j.strongest[at]; !taken && at.ref.Name != "" {
						j.strongest[at], j.strongestRoute[at] = rank, o
					}
				}
			}
		}
	}
	return j
}

// findParentKind is the kind of parents that Linkerd knows which a reference is to; false if it is
// to none.
func findParentKind(r reference) (model.GroupKind, bool) {
	for _, gk := range []model.GroupKind{serviceKind, egressKind, serverKind} {
		if r.isKind(gk) {
			return gk, true
		}
	}
	return model.GroupKind{}, false
}

// readParentPort is the parent that a parentRef is to, with its port.
func readParentPort(route *model.Object, p model.Body) parentPort {
	port, _ := p.Field("port").Value().(int64)
	return resolveParent(route, readReference(p, parentGroup(route)), port)
}

// resolveParent is the parent that a reference means; without a name it is none that Linkerd knows.
func resolveParent(route *model.Object, r reference, port int64) parentPort {
	gk, ok := findParentKind(r)
	if !ok {
		return parentPort{}
	}
	return parentPort{r.resolveRef(gk, route.Ref.Namespace), port}
}

// findParent is the object that a parentRef is to; nil: there is none, or it is of no kind that
// Linkerd knows.
func (j *routeJudge) findParent(route *model.Object, p model.Body) *model.Object {
	at := readParentPort(route, p)
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

// unreadRival is a kind of routes that goes before those of a rank and of which not all may be
// read; "" if there is none.
func (j *routeJudge) unreadRival(rank int) string {
	for _, kinds := range routePrecedence[:max(0, rank)] {
		for _, gk := range kinds {
			if j.in.Cluster.HasUnread(gk) {
				return gk.Kind
			}
		}
	}
	return ""
}

// judgeParent decides about one parentRef, which has to be to a kind that Linkerd knows.
func (j *routeJudge) judgeParent(route *model.Object, at parentPort) parentVerdict {
	o := j.in.Get(at.ref)
	rank := slices.IndexFunc(routePrecedence, func(kinds []model.GroupKind) bool {
		return slices.Contains(kinds,
			route.Ref.GroupKind())
	})
	switch e := j.in.FindExistence(at.ref); {
	case at.ref.Kind != "Service" && e.Presence == model.NotKnown:
		return parentVerdict{reason: unknown, why: e.Why}
	case at.ref.Kind == "Server" && o != nil:
		return parentVerdict{reason: accepted, why: "the Server takes the route"}
	case at.ref.Kind != "Server" && j.strongest[at] < rank: // whether or not the parent exists
		by := j.strongestRoute[at]
		return parentVerdict{reason: routeConflicted, why: by.Ref.String() + " is on the same parent, and kind " +
			by.Ref.Kind + " goes before " + route.Ref.Kind, by: by}
	case at.ref.Kind != "Server" && j.unreadRival(rank) != "":
		return parentVerdict{reason: unknown, why: "routes of kind " + j.unreadRival(rank) +
			" are forbidden, and go before " + route.Ref.Kind}
	case o == nil:
		return parentVerdict{reason: noMatchingParent, why: at.ref.String() + " does not exist", missing: true}
	case at.ref.Kind == "EgressNetwork" && findClusterOverlap(o, j.set) != "":
		return parentVerdict{reason: noMatchingParent, why: at.ref.String() + " is not accepted: " +
			findClusterOverlap(o, j.set)}
	case at.ref.Kind == "Service":
		if ip := o.Text("spec", "clusterIP"); o.Text("spec", "type") == "ExternalName" || ip == "None" || ip == "" &&
			j.in.Cluster != nil {
			return parentVerdict{reason: noMatchingParent, why: at.ref.String() + " has no cluster IP"}
		}
	}
	return parentVerdict{reason: accepted, why: "the " + at.ref.Kind + " takes the route"}
}

// controller is the name under which Linkerd writes statuses.
const controller = "linkerd.io/policy-controller"

// newParentJudge decides about parents of routes, as Linkerd's controller does (ST index.rs).
func newParentJudge(in *model.Snapshot, s model.Settings) func(*model.Object, model.Ref,
	int32) *topology.ParentVerdict {
	if !isPresent(in, s) {
		return nil
	}
	j := newRouteJudge(in, readSettings(s))
	return func(route *model.Object, parent model.Ref, port int32) *topology.ParentVerdict {
		r := reference{parent.Group, parent.Kind, parent.Namespace, parent.Name}
		if strings.EqualFold(r.group, "core") {
			r.group = ""
		}
		at := resolveParent(route, r, int64(port))
		if at.ref.Name == "" ||
			!slices.ContainsFunc(routePrecedence, func(kinds []model.GroupKind) bool {
				return slices.Contains(kinds,
					route.Ref.GroupKind())
			}) {
			return nil
		}
		v := j.judgeParent(route, at)
		out := &topology.ParentVerdict{State: topology.AttachmentState(v.reason), Reason: v.why, Missing: v.missing &&
			at.ref.Kind == "Service", Controller: controller}
		if at.ref.Kind != "Server" {
			refs := j.checkBackends(route, at.ref)
			out.Refs = &refs
		}
		return out
	}
}

// checkBackends is what the condition ResolvedRefs says: the first backend that is no good decides
// (ST backend_condition).
func (j *routeJudge) checkBackends(route *model.Object, parent model.Ref) topologyreference.Unresolved {
	for _, rule := range route.Body.At("spec", "rules").Items {
		for _, b := range rule.Field("backendRefs").Items {
			r := readReference(b, "")
			if b.Field("kind").IsNull() {
				r.kind = "Service"
			}
			gk, ok := findParentKind(r)
			ref := r.resolveRef(gk, route.Ref.Namespace)
			switch {
			case !ok || gk == serverKind:
				return topologyreference.Unresolved{Reason: "InvalidKind", Message: "a backend cannot be a " + r.kind +
					" of group " + strconv.Quote(r.group)}
			case j.in.Get(ref) == nil && !j.isKnownAbsent(ref):
				return topologyreference.Unresolved{Message: ref.String() + " is not in the input, or forbidden"}
			case j.in.Get(ref) == nil:
				return topologyreference.Unresolved{Reason: "BackendNotFound", Message: ref.String() +
					" does not exist"}
			case gk == egressKind && ref != parent:
				return topologyreference.Unresolved{Reason: "InvalidKind", Message: ref.String() +
					" can be a backend of routes on itself only"}
			}
		}
	}
	return topologyreference.Unresolved{}
}

// isKnownAbsent reports whether an object of the kind is known not to exist where the input has
// none: of a cluster all are read; of manifests the Services of a namespace are taken to be there
// if one is, or the Namespace.
func (j *routeJudge) isKnownAbsent(ref model.Ref) bool {
	if e := j.in.FindExistence(ref); j.in.Cluster != nil || e.Presence != model.NotShown {
		return e.Presence == model.Missing
	}
	if j.visible == nil {
		j.visible = map[string]bool{}
		for _, gk := range []model.GroupKind{serviceKind, egressKind} {
			for _, o := range j.in.OfKind(gk) {
				j.visible[o.Ref.Namespace] = true
			}
		}
		for _, o := range j.in.OfKind(namespaceKind) {
			j.visible[o.Ref.Name] = true
		}
	}
	return j.visible[ref.Namespace]
}
