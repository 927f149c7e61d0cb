package explain

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

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

	how string // the merge in words, for people
}

// ExplainedPolicy is an EffectivePolicy with the fold that led to it, in fold order (most specific
// first).
type ExplainedPolicy struct {
	view.EffectivePolicy
	Steps []Step `json:"steps"` // every merge that led to it, most specific first
}

// Explanation answers `explain`.
type Explanation struct {
	view.Envelope
	Rule  string            `json:"rule,omitempty"` // the rule asked for
	Items []ExplainedPolicy `json:"items"`          // by target, then by policy kind
}

// Empty reports whether there is nothing in the answer.
func (l *Explanation) Empty() bool { return len(l.Items) == 0 }

// FilterNames are the targets of the answer, each once.
func (l *Explanation) FilterNames() []string {
	return view.UniqueObjectNames(l.Items, func(i *ExplainedPolicy) *model.Ref { return &i.Target })
}
