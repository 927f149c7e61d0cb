package reach

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

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
	Target model.Ref   `json:"target"`         // the effective target
	Paths  []view.Path `json:"paths"`          // the ways on which this became of it
	Rule   string      `json:"rule,omitempty"` // the rule asked about
	// Effective, Partial, Overridden, Unset, ConditionFalse, Conflicted, Ignored
	State string        `json:"state"`
	By    []view.Source `json:"by"` // who won where it lost
	// what became of it in a few words, and who won; "" where it is wholly in force or nothing of
	// it counts
	Why    string   `json:"why"`
	Reason string   `json:"reason"`           // one plain sentence, "" where it is wholly in force
	Unread []string `json:"unread,omitempty"` // lists that a cluster refused and that may change the state

	unattachedInView bool // the policy is not attached to the target, which is in view
}

// PolicyReach answers `reach`.
type PolicyReach struct {
	view.Envelope
	Policy  model.Ref     `json:"policy"`         // that was asked about
	Rule    string        `json:"rule,omitempty"` // the rule of it that was asked about
	Sources []view.Source `json:"sources"`        // the blocks that set it, at every target that was found
	Summary ReachSummary  `json:"summary"`        // the items, counted
	// requests that come to the workloads around the place where it is in force, and why
	NotFor []string    `json:"notFor,omitempty"`
	Items  []ReachItem `json:"items"` // by target, those that it does not attach to last
}

// FilterNames are the targets where the policy is in force, wholly or partly, each once.
func (r *PolicyReach) FilterNames() []string {
	return view.UniqueObjectNames(r.Items, func(i *ReachItem) *model.Ref {
		if !i.isInForce() {
			return nil
		}
		return &i.Target
	})
}
