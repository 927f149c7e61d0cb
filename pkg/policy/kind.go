package policy

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Kind is a policy kind as this run understands it.
type Kind struct {
	GroupKind  model.GroupKind
	Vendor     string // "" for generic kinds
	From       string // where the description comes from, for people
	Profile    string // the vendor's profile in use, "" where it has only one
	Doc        string // how the kind is read, in half a line
	Plural     string
	Short      []string
	Cluster    bool
	Direct     bool // class direct: one target kind, strategy none
	Targets    []TargetForm
	Refs       []RefForm
	Filters    []topology.Role // where filters of routes name policies of the kind: at rules, at backendRefs; nil: nowhere
	Namespaces Namespaces
	Content    Content
	Rules      merge.Shape
	Cutting    string // what one rule is, for people
	Strategy   StrategyRule
	Compare    []Key
	Checked    bool // the order of folding is left open upstream: compare both (gep713 P27)
	SameTarget SameTarget
	Effective  []topology.Role
	Routes     []model.GroupKind // whose rules the kind has results at; sorted
	Plans      []merge.Plan
	Family     string
	Status     StatusWords
	Step       Step // nil: every step that the Gateway API allows
	Admission  []Admission
	Fits       []Fit
	fits       fitTree // the same, by path
	Checks     []SiteCheck
	Voids      []Void
	Discovers  Discovers // nil: the implementation sees all namespaces
	Lints      []Lint
	Advice     Advice            // nil: there is none
	Reads      []model.GroupKind // what else the kind's answers depend on
	InError    InError           // what becomes of policies in which a check finds a fault
	Parts      []Part
	Scopes     []Scope           // nil: one family of paths
	Scope      *Scope            // of a kind as one of its scopes has it
	Members    []model.GroupKind // kinds whose policies enter the stacks of this one
	Result     string            // what its rules are: names, evaluation, application, display; of a kind with scopes they say it
	Evaluate   string            // the registered evaluator; "": requests are not judged by the kind
	Labels     Labeler           // nil: labels count as they are
	Normalize  Normalizer        // nil: policies are read as they are written
	Defaults   []Default
	Builtins   []Builtin
	Unjudged   []Unjudged
	Tolerant   bool // policies that the API would refuse take part all the same, and are reported

	ListenerSets ListenerSets
	RejectsWhole bool     // a policy that another one keeps out of one target is out everywhere
	Dialects     bool     // whose the Gateways are decides how the kind is read
	Controllers  []string // controllerNames of the classes whose Gateways the vendor manages; nil: of all

	Guess Guess // of a kind without a descriptor

	settings model.Settings
	only     []Facts  // by plan: the paths that it is for; nil: all
	asked    []string // the facts that plans ask for
	asks     *Reading // the strategy that the lower side of a merge demands
	hop      *Reading // the strategy that the object of a level states
}

// StatusWords are a kind's own words for whether a policy is in force (gep713 §6), and who writes its conditions instead.
type StatusWords struct {
	Type    string       // of the condition
	All     string       // reason: in force everywhere
	Some    string       // in force somewhere or in part
	None    string       // in force nowhere
	NoScope string       // nothing to be in force on; "" for no condition
	Func    string       // the registered writer; "" for the usual conditions
	Silent  bool         // the vendor writes no conditions
	States  []StateField // words in the place of conditions; Func predicts them as conditions of the type with the word as status and reason
	Marks   string       // the registered writer of marks on other objects
	Refuses bool         // a policy is not attached where its status has no room for another ancestor
	// Complete are the types of conditions that Func writes wherever they hold: one that it does not write is not so.
	Complete []string
}

// StateField is a word by which the vendor says what became of a policy, in the place of a condition.
type StateField struct {
	At    []string // its place in the object; * is every key
	Words []string // what numbers mean; nil: the word itself is written
}

// Type is that of the condition that stands for the word: the last part of its place.
func (f StateField) Type() string { return f.At[len(f.At)-1] }

// UsualInForce is the type of the condition by which policies say that they are in force, where a kind has no word of its own.
const UsualInForce = "Programmed"

// MaxAncestors is how many entries the status of a policy has room for (gep713 P38).
const MaxAncestors = 16

// Admission is a validation rule of the kind's API.
type Admission struct {
	Rule    string // CEL over self
	Message string // the API server's
	Refuses bool   // a policy that breaks it cannot exist and takes no part
}

// Settings are the vendor switches under which the kind was described.
func (k *Kind) Settings() model.Settings { return k.settings }

// Name is Kind.group.
func (k *Kind) Name() string { return k.GroupKind.String() }

// Generic reports whether k has no descriptor (engine E15).
func (k *Kind) Generic() bool { return k.Vendor == "" }

// TargetForm is a kind that may be targeted, as a whole or, with a Section role, by section.
type TargetForm struct {
	GroupKind model.GroupKind
	Section   topology.Role // "" for the whole object
}

// String is the form's spelling in descriptors.
func (t TargetForm) String() string {
	s := t.GroupKind.Kind
	if t.GroupKind.Group != defaultGroup(t.GroupKind.Kind) {
		s = t.GroupKind.String()
	}
	if t.Section != "" {
		s += "/" + string(t.Section)
	}
	return s
}

// ByController reports whether it matters to policies of the kind whose the Gateways are.
func (k *Kind) ByController() bool { return k.Dialects || k.Controllers != nil }

// Allows reports whether a policy of the kind may target ref.
func (k *Kind) Allows(ref model.Ref) bool {
	if k.Targets == nil {
		return true
	}
	want := TargetForm{GroupKind: ref.GroupKind()}
	if ref.Section != "" {
		want.Section = sectionRole(ref.GroupKind())
	}
	return slices.Contains(k.Targets, want)
}

// RefForm says where references stand in a policy.
type RefForm struct {
	At       []string // path of an object or a list
	Selector bool     // kind and labels instead of a name
	Unless   []string // read only where this path is absent
	Silent   bool     // a missing target is not reported
	Attach   Attacher // finds the targets instead
	Search   Search   // likewise, reading the input once for all policies
	Named    bool     // a rule is meant by its own name only, not as rule-N
	InSets   bool     // a listener of a Gateway is meant in the Gateway's ListenerSets as well

	// Of selectors:
	EmptyNone       bool   // one that asks for nothing selects nothing
	NeverUnlabelled bool   // objects without any label are never selected
	NamespacesField bool   // its field namespaces says where it selects; outside of the policy's namespace it takes a grant
	Everywhere      string // the setting with the namespace whose policies select in every namespace
}

// Abroad reports whether the form may find targets in other namespaces than the policy's.
func (f RefForm) Abroad() bool { return f.NamespacesField || f.Everywhere != "" }

// FilterLevel is the level of policies that a filter of a route names.
const FilterLevel topology.Role = "filter"

// SectionLevel is the level at which policies that name a listener of a Gateway stand at the listener of that name in one of its
// ListenerSets: below those of the Gateway, above those of the set.
const SectionLevel topology.Role = "section"

// Namespaces says where a kind's targets may be.
type Namespaces string

// The namespace rules (gep713 P11, P12).
const (
	OwnNamespace Namespaces = "own"
	WithGrant    Namespaces = "grant"
	AnyNamespace Namespaces = "any"
)

// Content says where settings, blocks, unset lists and conditions stand in a policy.
type Content struct {
	At        []string // the settings root
	Fields    []string // settings fields; nil: everything but references and block words
	Blocks    map[merge.BlockKind][]string
	Condition string   // the field of a block that is a D/O condition where it is a string; "" for none
	Unset     []string // fields that list deactivated names
	OneSet    bool     // only one set is read: the first that is there of defaults, overrides and the bare one
	Designs   bool     // blocks may be written in the designs that RFC 0009 did not choose
	Claims    bool     // an empty spec still holds its place

	Zero ZeroValues // what false, 0, "" and an empty list are

	StripNulls  bool // the API server takes nulls out before anything sees them
	DeleteNulls bool // a null deletes what a higher policy sets
}

// ZeroValues says what false, 0, "" and an empty list are to a kind. An empty object is a value everywhere.
type ZeroValues string

// The ways with zero values.
const (
	ZeroSet   ZeroValues = "set"   // values like all others
	ZeroUnset ZeroValues = "unset" // as good as not there
	ZeroTail  ZeroValues = "tail"  // that, but in the first set that is merged, which is taken as it is and then filled
)

// ListenerSets says at the listeners of which ListenerSets a kind has results.
type ListenerSets string

// The ways with ListenerSets.
const (
	SetsTaken   ListenerSets = "taken" // of those that their Gateway takes, because no traffic comes to others
	SetsNamed   ListenerSets = "named" // of all, with a word about those that are not taken
	SetsUnknown ListenerSets = "none"  // the implementation does not know them
)

// SameTarget is how several policies on one target compete (engine E8).
type SameTarget string

// The same-target models. Conflict, First, Disjoint and the atomic half of Oldest reject policies before the fold.
const (
	Stacked  SameTarget = "stack"
	Oldest   SameTarget = "oldest"
	First    SameTarget = "first"
	Conflict SameTarget = "conflict"
	Fill     SameTarget = "fill"
	Disjoint SameTarget = "disjoint" // rule by rule; who sets a rule that another one has is rejected
)

const gatewayGroup = "gateway.networking.k8s.io"

// defaultGroup is the group that a bare kind name means in descriptors.
func defaultGroup(kind string) string {
	switch kind {
	case "GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute":
		return gatewayGroup
	}
	return ""
}

// sectionRole is what a sectionName of the kind names (gep713 P6), "" where that is the implementation's business.
func sectionRole(gk model.GroupKind) topology.Role {
	switch {
	case gk.Group == gatewayGroup && gk.Kind == "Gateway", topology.IsListenerSet(gk):
		return topology.Listener
	case gk.Group == gatewayGroup && strings.HasSuffix(gk.Kind, "Route"):
		return topology.Rule
	case gk.Group == "" && gk.Kind == "Service":
		return topology.Port
	}
	return ""
}

// wholeRole is the role of an object of the kind.
func wholeRole(gk model.GroupKind) topology.Role {
	switch {
	case gk.Group == gatewayGroup && gk.Kind == "GatewayClass":
		return topology.GatewayClass
	case gk.Group == gatewayGroup && gk.Kind == "Gateway":
		return topology.Gateway
	case topology.IsListenerSet(gk):
		return topology.ListenerSet
	case gk.Group == gatewayGroup && strings.HasSuffix(gk.Kind, "Route"):
		return topology.Route
	case gk.Group == "" && gk.Kind == "Namespace":
		return topology.Namespace
	}
	return topology.Backend
}

// effectiveRoles is where a kind with these targets has results: at route rules if a route or anything above it can be targeted,
// and wherever else its targets are.
func effectiveRoles(targets []TargetForm) []topology.Role {
	var rule, rest []topology.Role
	for _, t := range targets {
		role := wholeRole(t.GroupKind)
		if role != topology.Backend {
			rule = []topology.Role{topology.Rule}
			continue
		}
		if t.Section == topology.Port {
			role = topology.Port
		}
		if !slices.Contains(rest, role) {
			rest = append(rest, role)
		}
	}
	slices.Sort(rest)
	return append(rule, rest...)
}
