package policy

import (
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Kind is a policy kind as this run understands it. Its parts are for those who ask: how a policy
// finds its targets, where the kind has results, what a policy says, in which order policies stand,
// how they are folded, what is wrong with one.
type Kind struct {
	GroupKind model.GroupKind
	Vendor    string // "" for generic kinds
	Source    string // where the description comes from, for people
	Profile   string // the vendor's profile in use, "" where it has only one
	Doc       string // how the kind is read, in half a line
	Virtual   bool   // there are no objects of the kind: its settings stand in others, such as annotations
	// NamespacedRefs are the fields called …Ref in which the namespace of an object can be written;
	// where it is not, the policy's own is meant.
	NamespacedRefs []string

	// Publishable kinds have settings that cannot be credentials: numbers, times, sizes and names.
	Publishable   bool
	Inferred      string // what of that is inferred and stated nowhere; "": nothing is
	Plural        string
	ShortNames    []string
	ClusterScoped bool
	PortNumbers   bool              // a section of a Service may be the number of a port
	Settings      model.Settings    // the vendor switches under which the kind was described
	Members       []model.GroupKind // kinds whose policies enter the stacks of this one
	Reads         []model.GroupKind // what else the kind's answers depend on
	Evaluate      string            // the registered evaluator; "": requests are not judged by the kind
	AtPoints      bool              // the vendor judges connections by policies of the kind, at points on their way
	Guess         Guess             // of a kind without a descriptor
	Summaries     []Summary         // how tables say values
	Counts        []Counting        // who shares the counters of limits
	RuleOrder     string            // in which order several rules in force decide, where rows suggest another one
	Protects      gate.Protection   // which settings keep requests out, or bound them

	Attachment
	Reach
	Spec
	Ordering
	Folding
	Validity
	Status StatusWords
}

// Name is Kind.group.
func (k *Kind) Name() string { return k.GroupKind.String() }

// IsGeneric reports whether k has no descriptor (engine E15).
func (k *Kind) IsGeneric() bool { return k.Vendor == "" }

// HasPolicy reports whether a policy stands in the stacks of the kind: it is one of the kind, or of
// a member.
func (k *Kind) HasPolicy(p *Policy) bool {
	return p.Kind.GroupKind == k.GroupKind || slices.Contains(k.Members, p.Kind.GroupKind)
}

// AllPoliciesRef returns the reference that stands for all policies of the kind.
func (k *Kind) AllPoliciesRef() *model.Ref {
	return &model.Ref{Group: k.GroupKind.Group, Kind: k.GroupKind.Kind, Name: "*"}
}

// HasResultsAtWorkloads reports whether the kind has results at workloads.
func (k *Kind) HasResultsAtWorkloads() bool {
	return k.Family == topology.Namespaced || slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return s.Family == topology.Namespaced || slices.Contains(s.Effective, topology.Workload)
	})
}

// StatusWords are a kind's own words for whether a policy is in force, and who writes its
// conditions instead.
type StatusWords struct {
	Type         string // of the condition
	All          string // reason: in force everywhere
	Some         string // in force somewhere or in part
	None         string // in force nowhere
	NoScope      string // nothing to be in force on; "" for no condition
	Func         string // the registered writer; "" for the usual conditions
	NoConditions bool   // the vendor writes no conditions
	Unstated     bool   // of a Silent one: or it is not known which
	// words in the place of conditions; Func predicts them as conditions of the type with the word
	// as status and reason
	States  []StateField
	Marks   string // the registered writer of marks on other objects
	Refuses bool   // a policy is not attached where its status has no room for another ancestor
	// Complete are the types of conditions that Func writes wherever they hold: one that it does
	// not write is not so.
	Complete []string
	Accepted *AcceptedWords // nil: those of GEP-713
	Health   *HealthWords   // nil: nothing says what the status means for the health of a policy
}

// AcceptedWords are a kind's own words for whether a policy is accepted.
type AcceptedWords struct {
	Type         string
	Yes, Invalid string // reasons
	Alone        bool   // there is no condition beside it
}

// StateField is a word by which the vendor says what became of a policy, in the place of a
// condition.
type StateField struct {
	At    []string // its place in the object; * is every key
	Words []string // what numbers mean; nil: the word itself is written
	// Healthy and Progressing are the words for that; with all others the policy is degraded
	Healthy, Progressing []string
}

// Type returns the type of the condition that stands for the word: the last part of its place.
func (f StateField) Type() string { return f.At[len(f.At)-1] }

// UsualInForce is the type of the condition by which policies say that they are in force, where a
// kind has no word of its own.
const UsualInForce = string(gatewayv1.GatewayConditionProgrammed)

// MaxAncestors is how many entries the status of a policy has room for (gep713 P38).
const MaxAncestors = 16

// SelectsPods reports whether policies of the kind hold at Pods, or at proxies and what else Pods
// bring.
func (k *Kind) SelectsPods() bool {
	return slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return s.Family == topology.Namespaced || strings.Contains(s.Family, ".") ||
			slices.Contains(s.Effective, topology.Workload)
	})
}
