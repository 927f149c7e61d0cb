package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Attachment is how the policies of a kind find their targets, and what becomes of several on one.
type Attachment struct {
	Direct  bool // class direct: one target kind, strategy none
	Targets []TargetForm
	Refs    []RefForm
	// where filters of routes name policies of the kind: at rules, at backendRefs; nil: nowhere
	Filters      []topology.Role
	FilterRoutes []string // the kinds of routes whose filters count

	NamedByRoutes bool // routes name policies of the kind outside of filters
	// MayTarget are further targets that implementations may allow: they are none only where it is
	// known whose the Gateways are
	MayTarget          []TargetForm
	Namespaces         Namespaces
	DiscoverNamespaces NamespaceDiscovery // nil: the implementation sees all namespaces
	Labels             Labeler            // nil: labels count as they are
	SameTarget         SameTarget
	RejectsWhole       bool // a policy that another one keeps out of one target is out everywhere
	// of a kind that rejects whole policies: where they meet; nil: wherever they name one target
	Contest     ContestMaker
	Controllers []string // controllerNames of the classes whose Gateways the vendor manages; nil: of all
	HasDialects bool     // whose the Gateways are decides how the kind is read
}

// AllowsTarget reports whether a policy may target ref.
func (k *Attachment) AllowsTarget(ref model.Ref) bool {
	if k.Targets == nil {
		return true
	}
	want := TargetForm{GroupKind: ref.GroupKind()}
	if ref.Section != "" {
		want.Section = SectionRole(ref.GroupKind())
	}
	return slices.Contains(k.Targets, want)
}

// DependsOnController reports whether it matters to policies of the kind which controller the
// Gateways belong to.
func (k *Attachment) DependsOnController() bool { return k.HasDialects || k.Controllers != nil }

// Namespaces says where a kind's targets may be.
type Namespaces string

// The namespace rules (gep713 P11, P12).
const (
	OwnNamespace Namespaces = "own"
	WithGrant    Namespaces = "grant"
	AnyNamespace Namespaces = "any"
)

// SameTarget is how several policies on one target compete (engine E8).
type SameTarget string

// The same-target models. Conflict, First, Disjoint and the atomic half of Oldest reject policies
// before the fold.
const (
	Stacked  SameTarget = "stack"
	Oldest   SameTarget = "oldest"
	First    SameTarget = "first"
	Conflict SameTarget = "conflict"
	Fill     SameTarget = "fill"
	Disjoint SameTarget = "disjoint" // rule by rule; who sets a rule that another one has is rejected
	AllLose  SameTarget = "none"     // several on one target reject each other: none is in force
	Unstated SameTarget = "unknown"  // which of several is in force is stated nowhere
)

// NamespaceDiscovery says which namespaces an implementation sees; nil: all of them. Objects
// elsewhere do not exist for it.
type NamespaceDiscovery func(in *model.Snapshot, s model.Settings) (sees func(namespace string) bool,
	problems []model.Problem)

// Labeler prepares the completion of labels: it says what those of an object are once its vendor
// has written them.
type Labeler func(in *model.Snapshot, s model.Settings) func(o *model.Object) map[string]string

// ContestMaker prepares what decides which policies meet at a target. It is called once, for all
// policies of a kind.
type ContestMaker func(k *Kind, g *topology.Graph, in *model.Snapshot) Contest

// Contest returns the place where a policy competes at one of its targets: those at another place of
// the target do not meet it. Not ok: it meets nobody there.
type Contest func(a Attached) (place string, ok bool)
