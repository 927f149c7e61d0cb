package topology

import (
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// AttachmentState says how far a route got at a listener (gatewayapi G17); but for Unknown it is
// the reason of the route's Accepted condition.
type AttachmentState string

// The states, each further than the one before it. Unknown is ours: the input does not tell (G10,
// G14).
const (
	NoMatchingParent           AttachmentState = AttachmentState(gatewayv1.RouteReasonNoMatchingParent)
	NotAllowedByListeners      AttachmentState = AttachmentState(gatewayv1.RouteReasonNotAllowedByListeners)
	NoMatchingListenerHostname AttachmentState = AttachmentState(gatewayv1.RouteReasonNoMatchingListenerHostname)
	// of a parent route: nothing can be delegated to a route with hostnames
	UnsupportedValue AttachmentState = AttachmentState(gatewayv1.RouteReasonUnsupportedValue)
	// of a Service: routes of another kind have all its ports (G51)
	Conflicted AttachmentState = "Conflicted"
	Unknown    AttachmentState = "Unknown"
	Accepted   AttachmentState = AttachmentState(gatewayv1.RouteReasonAccepted)
)

func (s AttachmentState) rankProgress() int {
	return slices.Index([]AttachmentState{NoMatchingParent, NotAllowedByListeners, NoMatchingListenerHostname,
		UnsupportedValue, Conflicted, Unknown, Accepted}, s)
}

// Attachment is one row of the attachment table: what became of a parentRef of a route at one
// listener.
type Attachment struct {
	// the parentRef with its defaults filled in (gatewayapi G5); its Section is the sectionName
	Parent   model.Ref
	Port     int32  // of the parentRef; 0: not given
	Listener NodeID // None where no listener was a candidate, and for parents that have none: Services
	State    AttachmentState
	// the parent is not in the input but may exist: NoMatchingParent is a guess (G10)
	Missing         bool
	Unreported      bool // the implementation reports nothing about this parentRef
	MaybeUnreported bool // whether it does is not known
	// no parentRef says so: the route asks for default Gateways, and this is one (G20)
	Implicit bool
	// of an accepted attachment: the pairs that survive, in the route's order (G16); see anyHost
	Hostnames []gatewayapi.Hostname
	Reason    string // one plain sentence

	Verdict *ParentVerdict // of an implementation that judges the parent itself; nil: the Gateway API's rules decided
}

// WantsDefaultGateways reports whether a route asks for default Gateways (gatewayapi G20).
func (g *Graph) WantsDefaultGateways(route NodeID) bool {
	_, ok := g.parts.WantDefaults[route]
	return ok
}

// ParentVerdict is what an implementation makes of a route at a parent.
type ParentVerdict struct {
	State  AttachmentState // Accepted, or the reason of its condition Accepted
	Reason string
	// nothing but that a Service is not in the input keeps the route out: whether it exists is as
	// well known as ever
	Missing    bool
	Refs       *reference.Unresolved // what its condition ResolvedRefs says; nil: it writes none
	Controller string                // whose condition that is
}

// RouteAlias is a kind of routes that are read like those of another one, and the kinds of parents
// that take them.
type RouteAlias struct {
	Kind, Like model.GroupKind
	Parents    []model.GroupKind
}

// RouteKind returns the name of the Gateway API's kind of routes that a route is read as.
func (g *Graph) RouteKind(route NodeID) string {
	n := &g.nodes.list[route]
	for _, k := range g.parts.RouteAliases {
		if k.Kind == n.Ref.GroupKind() {
			return k.Like.Kind
		}
	}
	return n.Ref.Kind
}

// RoutesTogether reports whether clients of Services get the routes of their namespace beside those
// of the Service's.
func (g *Graph) RoutesTogether() bool { return g.parts.RoutesTogether }

// IsJudged reports whether implementations without Gateways decided about all parents of a route.
func IsJudged(all []Attachment) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(a Attachment) bool { return a.Verdict == nil })
}
