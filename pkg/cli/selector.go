package cli

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// labelSelector narrows a query to objects with certain labels, in kubectl's syntax.
type labelSelector struct{ labels.Selector }

// parseSelector reads a selector; that of "" selects everything.
func parseSelector(text string) (labelSelector, error) {
	if text == "" {
		return labelSelector{}, nil
	}
	sel, err := labels.Parse(text)
	if err != nil {
		return labelSelector{}, newUsageError("write labels as kubectl does: app=shop,tier!=test", "selector %q: %s", text, err)
	}
	return labelSelector{sel}, nil
}

// isEmpty reports whether everything is selected.
func (s labelSelector) isEmpty() bool { return s.Selector == nil }

// matchesObject reports whether an object has the labels.
func (s labelSelector) matchesObject(o *model.Object) bool {
	return s.isEmpty() || s.Matches(labels.Set(o.Labels))
}
