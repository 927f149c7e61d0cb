package overridden

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// OverriddenRule is one rule of one policy that lost at one effective target.
type OverriddenRule struct {
	PolicyKind string        `json:"policyKind"`        // Kind.group
	Rule       string        `json:"rule"`              // dotted path under spec
	Source     view.Source   `json:"source"`            // who wanted it
	Value      any           `json:"value"`             // that was wanted
	Summary    string        `json:"summary,omitempty"` // the value in a few words; only in reports
	Target     model.Ref     `json:"target"`            // where it lost
	Paths      []view.Path   `json:"paths"`             // the ways on which it lost
	LostTo     []view.Source `json:"lostTo"`            // who won
	Reason     string        `json:"reason"`            // one word for why
	Why        string        `json:"why"`               // the reason in a few words
	Message    string        `json:"message"`           // one plain sentence that names the winner
	Everywhere bool          `json:"everywhere"`        // this rule of this policy is in force nowhere
	Unread     []string      `json:"unread,omitempty"`  // lists that a cluster refused and that may change the loss
}

// OverriddenRuleList answers `overridden`.
type OverriddenRuleList struct {
	view.Envelope
	Items []OverriddenRule `json:"items"` // by target, then by policy kind
}

// Empty reports whether there is nothing in the answer.
func (l *OverriddenRuleList) Empty() bool { return len(l.Items) == 0 }

// FilterNames are the policies that lost something, each once.
func (l *OverriddenRuleList) FilterNames() []string {
	return view.UniqueObjectNames(l.Items, func(i *OverriddenRule) *model.Ref { return i.Source.Policy })
}
