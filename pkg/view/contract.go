package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// APIVersion is the version of all shapes of this package. Fields may be added to them, never renamed.
const APIVersion = "dopolicy.dev/v1alpha1"

// Envelope opens every answer.
type Envelope struct {
	APIVersion string          `json:"apiVersion"` // of the shape
	Kind       string          `json:"kind"`       // the name of the shape
	Complete   bool            `json:"complete"`   // false: something that could change the answer is not known; problems say what
	Problems   []model.Problem `json:"problems"`   // what is wrong or not known, the worst first

	isRelevant    func(model.Problem) bool // whether a problem matters to the answer; nil: each does
	policyUnknown bool                     // it is not known whether a policy is in force where none is found
}

// Finish fills in the version and the kind, sorts the problems, and sets whether the answer is
// complete.
func (e *Envelope) Finish(kind string, problems []model.Problem) {
	e.APIVersion, e.Kind, e.Complete = APIVersion, kind, true
	e.Problems = model.SortProblems(problems)
	if e.Problems == nil {
		e.Problems = []model.Problem{}
	}
	for _, p := range e.Problems {
		if p.IsIncomplete() {
			e.Complete = false
		}
	}
}

// Opening returns the envelope with which the answer begins.
func (e *Envelope) Opening() *Envelope { return e }

// Source says who set something: a block of a policy at a target, or a value that no policy wrote (Builtin).
type Source struct {
	Policy   *model.Ref `json:"policy,omitempty"`    // absent where no policy wrote it
	Target   *model.Ref `json:"target" null:"never"` // shared, and not to be changed
	Level    string     `json:"level"`               // the role at which it stands
	Block    string     `json:"block,omitempty"`     // defaults, bare, overrides
	Strategy string     `json:"strategy,omitempty"`  // atomic, merge, patch, none, union
	// Condition is the block's `when`. It was met, unless the source is that of a loss with the reason ConditionFalse.
	Condition string        `json:"condition,omitempty"`
	Origin    *model.Origin `json:"origin,omitempty"`  // where it is
	Builtin   string        `json:"builtin,omitempty"` // what the setting is, where no policy wrote it
	Part      string        `json:"part,omitempty"`    // which part of the policy, as to[0], where it has several
	// DecidedBy is, of the winner of a loss, what made it win.
	DecidedBy *Deciding `json:"decidedBy,omitempty"`
}

// Deciding is what made the winner of a loss win, with what was compared.
type Deciding struct {
	By     string `json:"by"`               // level, block, strategy, builtIn, order, age, name, namespace, section, position, field, label, annotation
	Called string `json:"called,omitempty"` // which field, label or annotation, or what the policy kind calls it
	Winner string `json:"winner,omitempty"` // what was compared of the winner
	Loser  string `json:"loser,omitempty"`  // what was compared of the loser
}

// Path is one way traffic (or a binding) reaches a target.
type Path struct {
	GatewayClass   string   `json:"gatewayClass,omitempty"`   // its name
	Gateway        string   `json:"gateway,omitempty"`        // namespace/name
	ListenerSet    string   `json:"listenerSet,omitempty"`    // namespace/name; only for a listener of that set
	Listener       string   `json:"listener,omitempty"`       // its name
	DelegatedFrom  []string `json:"delegatedFrom,omitempty"`  // the routes that delegate, root first
	Direction      string   `json:"direction,omitempty"`      // of a path through a Service: producer or consumer; elsewhere the part of the traffic, as its kind calls it
	Mesh           string   `json:"mesh,omitempty"`           // its name
	Dataplane      string   `json:"dataplane,omitempty"`      // namespace/name of a proxy of a mesh
	Destination    string   `json:"destination,omitempty"`    // of what a proxy sends: where to
	Hostname       string   `json:"hostname,omitempty"`       // for which alone it holds
	DelegatedRules []string `json:"delegatedRules,omitempty"` // the rules that delegate, beside DelegatedFrom
	Binding        string   `json:"binding,omitempty"`        // of a policy that a binding brings: the binding
	Route          string   `json:"route,omitempty"`          // Kind namespace/name of the route, with its rule if that matters, where what holds at a backend depends on it
}

// Loss is a setting that somebody wanted and did not get, and why.
type Loss struct {
	Source
	Value   any      `json:"value"`   // that was wanted
	Reason  string   `json:"reason"`  // one word for why
	Why     string   `json:"why"`     // the reason in a few words
	Message string   `json:"message"` // one plain sentence that names the winner
	LostTo  []Source `json:"lostTo"`  // who won
}

// RuleLoss is a Loss with the rule it is about, for rules that are nowhere in the result.
type RuleLoss struct {
	Rule string `json:"rule"` // dotted path under spec
	Loss
}

// Rule is one setting in force.
type Rule struct {
	Name    string   `json:"name"`    // dotted path under spec
	Value   any      `json:"value"`   // that is in force
	Sources []Source `json:"sources"` // who set it, weakest first
	Why     string   `json:"why"`     // why it is in force, and whom it beat, in a few words; "" in groups
	Lost    []Loss   `json:"lost"`    // who else wanted it

	Path merge.Path `json:"-"` // what Name says

	summary string // of the value, once a table has asked for it
}

// PolicyUse is one policy of the stack and what became of it.
type PolicyUse struct {
	Policy   *model.Ref    `json:"policy,omitempty"`    // absent where no policy wrote it
	Target   *model.Ref    `json:"target" null:"never"` // what it is attached to
	Level    string        `json:"level"`               // the role at which it stands
	Strategy string        `json:"strategy,omitempty"`  // atomic, merge, patch, none, union, custom
	Origin   *model.Origin `json:"origin,omitempty"`    // where it is
	Builtin  string        `json:"builtin,omitempty"`   // what the setting is, where no policy wrote it
	Part     string        `json:"part,omitempty"`      // which part of the policy, as to[0], where it has several
	Role     string        `json:"role"`                // contributing, partial, lost, ignored
}

// Group is the result of one named member of a kind's plan.
type Group struct {
	Name  string `json:"name"`  // that the kind gives it
	Rules []Rule `json:"rules"` // its settings in force
}

// EffectivePolicy is what is in force of one policy kind at one effective target, for all paths that share it.
type EffectivePolicy struct {
	PolicyKind string      `json:"policyKind"`        // Kind.group
	Target     model.Ref   `json:"target"`            // where it is in force
	Paths      []Path      `json:"paths"`             // the ways on which it is in force
	Spec       any         `json:"spec,omitempty"`    // bare form; absent when nothing is in force
	Ordered    bool        `json:"ordered"`           // true: Rules is a list whose order means something
	Rules      []Rule      `json:"rules"`             // the settings in force
	Policies   []PolicyUse `json:"policies"`          // the stack, least specific first
	Lost       []RuleLoss  `json:"lost"`              // rules that are nowhere in the result
	Groups     []Group     `json:"groups,omitempty"`  // of a kind whose settings are merged in groups: each by itself
	Profile    string      `json:"profile,omitempty"` // the reading of the kind, where there are several
	ID         string      `json:"id"`                // short hash of policyKind, spec and sources, origins aside
	Unread     []string    `json:"unread,omitempty"`  // lists that a cluster refused and that may change the result, as "httproutes.gateway.networking.k8s.io in shop"

	summaries summarizer // of the kind
}

// EffectivePolicyList answers `effective`.
type EffectivePolicyList struct {
	Envelope
	Routes   []RouteSettings   `json:"routes,omitempty"`   // what the rules of routes say themselves, where they say anything
	Reported []ReportedPolicy  `json:"reported,omitempty"` // what published reports say, where not all policies may be read: by target
	Items    []EffectivePolicy `json:"items"`              // by target, then by policy kind

	// Protection is what places that are no route rules are protected by, by target.
	Protection []PlaceProtection `json:"protection,omitempty"`

	rulesWithoutPolicy []model.Ref // route rules that were asked for and have no item
	pathsWithoutPolicy []string    // paths to route rules on which no policy is in force, the end of a sentence each
	unattachedReasons  []string    // why a route that was asked for gets no traffic, a sentence each
	gateways           []model.Ref // that were asked about as objects of a namespace, not for what comes through them
	unlistedLosses     int         // settings that lost on targets without an item
}

// Step is one merge of the fold: a block of a policy against everything below it.
type Step struct {
	Policy    *model.Ref `json:"policy,omitempty"`    // whose block it is
	Builtin   string     `json:"builtin,omitempty"`   // what the setting is, where no policy wrote it
	Level     string     `json:"level"`               // the role at which it stands, or "group" and its name
	Block     string     `json:"block"`               // the set of settings that is merged
	Strategy  string     `json:"strategy"`            // by which it is merged
	Condition string     `json:"condition,omitempty"` // the block's `when`, with its verdict
	Took      []string   `json:"took"`                // rules that entered the result
	Lost      []string   `json:"lost"`                // rules that lost in this step
	Result    []string   `json:"result"`              // rules in force after this step
	Notes     []string   `json:"notes,omitempty"`     // one sentence each: what happened to which rule
}

// ExplainedPolicy is an EffectivePolicy with the fold that led to it, in fold order (most specific first).
type ExplainedPolicy struct {
	EffectivePolicy
	Steps []Step `json:"steps"` // every merge that led to it, most specific first
}

// Explanation answers `explain`.
type Explanation struct {
	Envelope
	Rule  string            `json:"rule,omitempty"` // the rule asked for
	Items []ExplainedPolicy `json:"items"`          // by target, then by policy kind
}

// ReachSummary counts the objects under a policy's targets and what became of it there.
type ReachSummary struct {
	Gateways   int `json:"gateways"`   // distinct objects
	Listeners  int `json:"listeners"`  // distinct listeners
	Routes     int `json:"routes"`     // distinct objects
	RouteRules int `json:"routeRules"` // distinct rules
	Backends   int `json:"backends"`   // distinct objects
	Effective  int `json:"effective"`  // items by state
	Partial    int `json:"partial"`    // items where it is in force in part
	Overridden int `json:"overridden"` // every state but Effective and Partial
}

// ReachItem says what became of the policy, or of one rule of it, at one effective target.
type ReachItem struct {
	Target model.Ref `json:"target"`           // the effective target
	Paths  []Path    `json:"paths"`            // the ways on which this became of it
	Rule   string    `json:"rule,omitempty"`   // the rule asked about
	State  string    `json:"state"`            // Effective, Partial, Overridden, Unset, ConditionFalse, Conflicted, Ignored
	By     []Source  `json:"by"`               // who won where it lost
	Why    string    `json:"why"`              // what became of it in a few words, and who won; "" where it is wholly in force or nothing of it counts
	Reason string    `json:"reason"`           // one plain sentence, "" where it is wholly in force
	Unread []string  `json:"unread,omitempty"` // lists that a cluster refused and that may change the state

	unattachedInView bool // the policy is not attached to the target, which is in view
}

// PolicyReach answers `reach`.
type PolicyReach struct {
	Envelope
	Policy  model.Ref    `json:"policy"`         // that was asked about
	Rule    string       `json:"rule,omitempty"` // the rule of it that was asked about
	Sources []Source     `json:"sources"`        // the blocks that set it, at every target that was found
	Summary ReachSummary `json:"summary"`        // the items, counted
	Items   []ReachItem  `json:"items"`          // by target, those that it does not attach to last
}

// OverriddenRule is one rule of one policy that lost at one effective target.
type OverriddenRule struct {
	PolicyKind string    `json:"policyKind"`       // Kind.group
	Rule       string    `json:"rule"`             // dotted path under spec
	Source     Source    `json:"source"`           // who wanted it
	Value      any       `json:"value"`            // that was wanted
	Target     model.Ref `json:"target"`           // where it lost
	Paths      []Path    `json:"paths"`            // the ways on which it lost
	LostTo     []Source  `json:"lostTo"`           // who won
	Reason     string    `json:"reason"`           // one word for why
	Why        string    `json:"why"`              // the reason in a few words
	Message    string    `json:"message"`          // one plain sentence that names the winner
	Everywhere bool      `json:"everywhere"`       // this rule of this policy is in force nowhere
	Unread     []string  `json:"unread,omitempty"` // lists that a cluster refused and that may change the loss
}

// OverriddenRuleList answers `overridden`.
type OverriddenRuleList struct {
	Envelope
	Items []OverriddenRule `json:"items"` // by target, then by policy kind
}

// GraphNode is a target or a policy. Kind is the role of a target, or "policy". A node that stands for several objects, which a collapsed
// picture draws as one, lists them in Members; its Ref then has no object's name.
type GraphNode struct {
	ID      string            `json:"id"`                // by which edges name it
	Ref     model.Ref         `json:"ref"`               // the object
	Kind    string            `json:"kind"`              // the role of a target, or policy
	Labels  map[string]string `json:"labels"`            // facts worth showing: policyKind, hostnames, state, count, …
	Members []model.Ref       `json:"members,omitempty"` // the objects that it stands for, if there are several
}

// GraphEdge joins two nodes. Kind: parent (traffic flows from → to), targets (policy → its target), effective (policy → an
// effective target where it is in force), overridden (policy → one where it is not, and lost), conditionFalse (policy → one where it does not
// apply, because its condition is false).
//
// State is, on an effective edge, "partial" where only part of the policy is in force; on a targets edge what became of the policy at all
// that it reaches through that target: "effective", "partial" (in part, or not everywhere), "overridden" (nowhere), "conditionFalse" (nowhere,
// because its condition is false), "dangling" (the target is not in the input) or nothing (it reaches nothing, or nothing is known); on a parent edge "taken" if the request asked about goes that
// way, "dangling" if what it points to is not in the input.
type GraphEdge struct {
	From  string   `json:"from"`            // the id of a node
	To    string   `json:"to"`              // the id of a node
	Kind  string   `json:"kind"`            // what the edge says
	State string   `json:"state,omitempty"` // partial, effective, overridden, conditionFalse, dangling or taken; see the edge
	Count int      `json:"count,omitempty"` // how many edges a collapsed picture draws as this one, if more than one
	By    []string `json:"by,omitempty"`    // the ids of the policies that won, on overridden and partial edges
	Proxy string   `json:"proxy,omitempty"` // "different" where a proxy does not do what the edge says; only looked for where dumps were given
}

// Topology answers `graph`.
type Topology struct {
	Envelope
	Focus     []string    `json:"focus,omitempty"`     // the ids of the nodes that it is about
	Collapsed string      `json:"collapsed,omitempty"` // "rules", "route" or "namespace": nodes stand for what looks alike
	Nodes     []GraphNode `json:"nodes"`               // sorted by id
	Edges     []GraphEdge `json:"edges"`               // sorted by their ends

	Requests *GraphRequests `json:"requests,omitempty"` // whose ways are marked, where a class of requests is asked about
}

// KindInfo describes one policy kind as it is understood in this run.
type KindInfo struct {
	Kind       string   `json:"kind"`              // Kind.group
	Plural     string   `json:"plural"`            // in lower case
	ShortNames []string `json:"shortNames"`        // that kubectl takes for it
	Vendor     string   `json:"vendor"`            // "generic" where no descriptor is known
	Class      string   `json:"class"`             // Inherited, Direct
	Targets    []string `json:"targets"`           // the kinds that its policies may target
	Strategies []string `json:"strategies"`        // that its policies can name
	Effective  []string `json:"effective"`         // roles at which it has results
	Rules      string   `json:"rules"`             // what one rule is
	Objects    int      `json:"objects"`           // policies of the kind in the input
	From       string   `json:"from"`              // built in, a file, a CRD label, the shape of an object
	Reading    string   `json:"reading,omitempty"` // of a generic kind: how its policies are read
	Guesses    []string `json:"guesses,omitempty"` // of a generic kind: what of the reading may be wrong, and fields that are not understood
}

// KindList answers `kinds`.
type KindList struct {
	Envelope
	Items []KindInfo `json:"items"` // every kind that is known
}
