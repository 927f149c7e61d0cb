package behavior

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// The parts of what requests get that can change.
const (
	BehaviorOutcome  = "Outcome"
	BehaviorBackends = "Backends"
	BehaviorFilters  = "Filters"
	BehaviorPolicies = "Policies"
	BehaviorDecision = "Decision"

	BehaviorProtection = "Protection"
)

// The changes of the access that requests have.
const (
	AccessOpened = "Opened"
	AccessClosed = "Closed"
)

// Limits of the size of an answer.
const (
	maxBehaviorItems   = 1000
	maxBehaviorClasses = 20 // of one item, that are shown with a request
)

// BehaviorDiff answers `diff --behavior`.
type BehaviorDiff struct {
	view.Envelope
	Classes int `json:"classes"` // of requests, that no rule of either side tells apart
	Changed int `json:"changed"` // classes for which something changes
	// of these, that reach a backend and were not let through, reached none, or met a protection
	// that is gone
	Opened int `json:"opened"`
	Closed int `json:"closed"` // of these, of which the opposite is true
	// the classes that get through before and after, by the property that held and fails
	Loses diff.PropertyCounts `json:"loses"`
	// the changes: those that open something first, then the smallest request first
	Items     []BehaviorChange  `json:"items"`
	More      int               `json:"more"`      // further changes
	Undecided []prove.Undecided `json:"undecided"` // what could not be decided, and may be a change
	// what may get requests as well and is not compared, a sentence each
	LeftOut []string `json:"leftOut"`
	// the policy kinds that keep requests out, as Kind.group, of those that are in the inputs
	Protects []string `json:"protects"`
	Traffic  *Traffic `json:"traffic,omitempty"` // what an access log says of the shares

	// Of a comparison with the proxy of Ingresses: Equivalent, Different, or NotProved. It is about
	// hosts, paths, redirects, backends and their shares, the path that they get, authentication, address
	// lists and client certificates, and about what --also names.
	Verdict string `json:"verdict,omitempty"`
	// the hosts and which side serves them, those first that both serve or neither
	Hosts    []HostCoverage    `json:"hosts,omitempty"`
	Requests []ComparedRequest `json:"requests,omitempty"` // of --requests-file, in their order

	news        []model.Problem
	accessKnown bool // it is known who gets access
	oneInput    bool // both sides are of one input
	assumed     []string
	gained      int // of those opened, the classes that no backend got or that had to show a credential
}

// HostCoverage says which sides serve a host.
type HostCoverage struct {
	Host   string `json:"host"`   // a name or a wildcard
	Before bool   `json:"before"` // it is served before
	After  bool   `json:"after"`  // it is served after
}

// ComparedRequest is what becomes of one request that was asked about.
type ComparedRequest struct {
	Request requests.RequestText `json:"request"`          // it
	Verdict string               `json:"verdict"`          // Equivalent, Different, NotProved
	Change  *int                 `json:"change,omitempty"` // the change that it is one of, by its position in items
	Before  BehaviorSide         `json:"before"`           // what it gets before
	After   BehaviorSide         `json:"after"`            // what it gets after

	change    int
	hasChange bool
}

// BehaviorChange is one change of what requests get, for all classes of requests for which it is
// the same and the same rules take them.
type BehaviorChange struct {
	// what changes: Outcome, Backends, Filters, Policies, Decision, Protection
	Changes []string `json:"changes"`
	// Opened: a backend gets requests that it did not get, or that were held back; Closed: the
	// opposite
	Access string `json:"access,omitempty"`
	Reason string `json:"reason,omitempty"` // of Opened: what held them back before
	// that makes the smallest of these requests: curl, or grpcurl
	Command  string               `json:"command"`
	Request  requests.RequestText `json:"request"`            // it
	Classes  []ChangedClass       `json:"classes"`            // of requests for which this changes, at most 20
	More     int                  `json:"more"`               // further classes
	Before   BehaviorSide         `json:"before"`             // what they get before
	After    BehaviorSide         `json:"after"`              // what they get after
	Policies []SettingChange      `json:"policies,omitempty"` // the settings in force that are not the same
	Traffic  *TrafficShare        `json:"traffic,omitempty"`  // which share of the logged requests it touches

	// Protection are the properties of the requests of which not the same is true, where a backend
	// gets them before and after.
	Protection []PropertyShift `json:"protection,omitempty"`

	// Of a comparison with the proxy of Ingresses: NoMatchNow, RedirectGone, OtherRedirect,
	// RedirectNow, NewAccess, AccessLost, OtherBackend, OtherPath, BackendNow, OtherAnswer, OtherSettings
	Difference Difference `json:"difference,omitempty"`
	Beyond     bool       `json:"beyond,omitempty"` // the verdict is not about this change
	// who sends the smallest of these requests, and with what, as far as the command does not say it
	Circumstances string `json:"circumstances,omitempty"`
	Repair        string `json:"repair,omitempty"` // what would make the second side do the same, where that is known

	lost []lostProperty
}

// PropertyShift is a property of requests of which something else is true after than before.
type PropertyShift struct {
	Property gate.Property  `json:"property"` // which
	Before   protect.Result `json:"before"`   // what was true
	After    protect.Result `json:"after"`    // what is true
}

// ChangedClass is a set of requests for which something changes.
type ChangedClass struct {
	Class   string `json:"class"`   // which requests, in words
	Command string `json:"command"` // that makes one of them
}

// BehaviorSide is what a request gets on one side.
type BehaviorSide struct {
	Outcome string `json:"outcome"` // as `request` says it
	// of a Conditional outcome: if what is not known changes nothing
	Assumed  string `json:"assumed,omitempty"`
	Status   int    `json:"status,omitempty"`   // where the Gateway answers by itself
	Location string `json:"location,omitempty"` // of a redirect
	// namespace/name; absent where this side has no such Gateway or port
	Gateway  string                    `json:"gateway,omitempty"`
	Listener string                    `json:"listener,omitempty"` // its name
	Route    *model.Ref                `json:"route,omitempty"`    // that takes it; names are not compared
	Rule     *int                      `json:"rule,omitempty"`     // counted from 0
	Backends []requests.RequestBackend `json:"backends"`           // usable ones
	Failing  string                    `json:"failing,omitempty"`  // which share of the requests fails, and why
	Filters  []string                  `json:"filters,omitempty"`  // of the rule, by type
	// the policy kinds that keep requests out and are in force on the way
	Protected []string `json:"protected"`
	Denied    []string `json:"denied"` // the policy kinds that deny it
	Why       []string `json:"why"`    // the comparisons that decided

	requests.ProxyFacts

	filters []any
}

// SettingChange is a setting in force on the way of a request that is not the same before and
// after.
type SettingChange struct {
	PolicyKind string `json:"policyKind"` // Kind.group
	At         string `json:"at"`         // the kind of object at which it is in force; of a backend with its name
	Name       string `json:"name"`       // dotted path under spec
	Before     any    `json:"before"`     // null where it was not in force
	After      any    `json:"after"`      // null where it is not in force
}
