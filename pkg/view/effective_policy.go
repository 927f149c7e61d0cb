package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Loss is a setting that somebody wanted and did not get, and why.
type Loss struct {
	Source
	Value   any      `json:"value"`             // that was wanted
	Summary string   `json:"summary,omitempty"` // the value in a few words; only in reports
	Reason  string   `json:"reason"`            // one word for why
	Why     string   `json:"why"`               // the reason in a few words
	Message string   `json:"message"`           // one plain sentence that names the winner
	LostTo  []Source `json:"lostTo"`            // who won
}

// RuleLoss is a Loss with the rule it is about, for rules that are nowhere in the result.
type RuleLoss struct {
	Rule string `json:"rule"` // dotted path under spec
	Loss
}

// Rule is one setting in force.
type Rule struct {
	Name    string   `json:"name"`              // dotted path under spec
	Value   any      `json:"value"`             // that is in force
	Summary string   `json:"summary,omitempty"` // the value in a few words; only in reports
	Counts  string   `json:"counts,omitempty"`  // of a limit: who shares its counters, such as "per HTTPRoute and limit"
	Sources []Source `json:"sources"`           // who set it, weakest first
	Why     string   `json:"why"`               // why it is in force, and whom it beat, in a few words; "" in groups
	Lost    []Loss   `json:"lost"`              // who else wanted it

	Path    merge.Path `json:"-"` // what Name says
	Counted string     `json:"-"` // the settings that Counts is about, such as "limits.*"

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

// EffectivePolicy is what is in force of one policy kind at one effective target, for all paths
// that share it.
type EffectivePolicy struct {
	PolicyKind string    `json:"policyKind"`     // Kind.group
	Target     model.Ref `json:"target"`         // where it is in force
	Paths      []Path    `json:"paths"`          // the ways on which it is in force
	Spec       any       `json:"spec,omitempty"` // bare form; absent when nothing is in force
	Ordered    bool      `json:"ordered"`        // true: Rules is a list whose order means something
	// in which order several rules decide, where that of Rules suggests another one
	RuleOrder string      `json:"ruleOrder,omitempty"`
	Rules     []Rule      `json:"rules"`             // the settings in force
	Policies  []PolicyUse `json:"policies"`          // the stack, least specific first
	Lost      []RuleLoss  `json:"lost"`              // rules that are nowhere in the result
	Groups    []Group     `json:"groups,omitempty"`  // of a kind whose settings are merged in groups: each by itself
	Profile   string      `json:"profile,omitempty"` // the reading of the kind, where there are several
	ID        string      `json:"id"`                // short hash of policyKind, spec and sources, origins aside
	// lists that a cluster refused and that may change the result, as
	// "httproutes.gateway.networking.k8s.io in shop"
	Unread []string `json:"unread,omitempty"`

	summaries summarizer // of the kind
}
