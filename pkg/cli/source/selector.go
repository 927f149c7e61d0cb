package source

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// LabelSelector narrows a query to objects with certain labels, in kubectl's syntax.
type LabelSelector struct{ labels.Selector }

// ParseSelector reads a selector; that of "" selects everything.
func ParseSelector(text string) (LabelSelector, error) {
	if text == "" {
		return LabelSelector{}, nil
	}
	sel, err := labels.Parse(text)
	if err != nil {
		return LabelSelector{}, failure.Usage("write labels as kubectl does: app=shop,tier!=test",
			"selector %q: %s", text, err)
	}
	return LabelSelector{sel}, nil
}

// IsEmpty reports whether everything is selected.
func (s LabelSelector) IsEmpty() bool { return s.Selector == nil }

// MatchesObject reports whether an object has the labels.
func (s LabelSelector) MatchesObject(o *model.Object) bool {
	return s.IsEmpty() || s.Matches(labels.Set(o.Labels))
}
