package policy

import (
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// TargetForm is a kind that may be targeted, as a whole or, with a Section role, by section.
type TargetForm struct {
	GroupKind model.GroupKind
	Section   topology.Role // "" for the whole object
}

// String is the form's spelling in descriptors.
func (t TargetForm) String() string {
	s := t.GroupKind.Kind
	if t.GroupKind.Group != DefaultGroup(t.GroupKind.Kind) {
		s = t.GroupKind.String()
	}
	if t.Section != "" {
		s += "/" + string(t.Section)
	}
	return s
}

// RefForm says where references stand in a policy.
type RefForm struct {
	At                   []string     // path of an object or a list
	Selector             bool         // kind and labels instead of a name
	Unless               []string     // read only where this path is absent
	Silent               bool         // a missing target is not reported
	Attach               Attacher     // finds the targets instead
	Search               Search       // likewise, reading the input once for all policies
	NamedBy              []NamingRule // who names policies, if Search finds those
	RuleNameOnly         bool         // a rule is meant by its own name only, not as rule-N
	InListenerSets       bool         // a listener of a Gateway is meant in the Gateway's ListenerSets as well
	OutranksListenerSets bool         // there it stands below what the set has, so that it counts more
	ByPort               bool         // a port of a Gateway means its listeners there
	CoreName             string       // a name of the group that has none; "": it has no name

	// Of selectors:
	EmptyNone       bool // one that asks for nothing selects nothing
	NeverUnlabelled bool // objects without any label are never selected
	// its field namespaces says where it selects; outside of the policy's namespace it takes a
	// grant
	NamespacesField bool
	Everywhere      string // the setting with the namespace whose policies select in every namespace
}

// CanCrossNamespaces reports whether the form may find targets in other namespaces than the
// policy's.
func (f RefForm) CanCrossNamespaces() bool { return f.NamespacesField || f.Everywhere != "" }

// HasVendorSearch reports whether a function of a vendor finds the targets.
func (f RefForm) HasVendorSearch() bool { return f.Attach != nil || f.Search != nil }

// FilterLevel is the level of policies that a filter of a route names.
const FilterLevel topology.Role = "filter"

// SectionLevel is the level at which policies that name a listener of a Gateway stand at the
// listener of that name in one of its ListenerSets: below those of the Gateway, above those of the
// set.
const SectionLevel topology.Role = "section"

// PortLevel is the level of policies that name a port of a Gateway: below those of the Gateway,
// above those of its listeners.
const PortLevel topology.Role = "gatewayPort"

// The levels of what objects themselves set, where it stands among policies.
const (
	InlineRule    topology.Role = "inlineRule"
	InlineBackend topology.Role = "inlineBackend"
	InlinePort    topology.Role = "inlinePort"
)

// GatewayGroup is the group of the Gateway API's kinds.
const GatewayGroup = gatewayv1.GroupName

// DefaultGroup is the group that a bare kind name means in descriptors.
func DefaultGroup(kind string) string {
	switch kind {
	case "GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute":
		return GatewayGroup
	}
	return ""
}

// SectionRole is what a sectionName of the kind names (gep713 P6), "" where that is the
// implementation's business.
func SectionRole(gk model.GroupKind) topology.Role {
	switch {
	case gk.Group == GatewayGroup && gk.Kind == "Gateway", gatewayapi.IsListenerSet(gk):
		return topology.Listener
	case gk.Group == GatewayGroup && strings.HasSuffix(gk.Kind, "Route"):
		return topology.Rule
	case gk.Group == "" && gk.Kind == "Service":
		return topology.Port
	}
	return ""
}
