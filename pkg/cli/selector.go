package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"k8s.io/apimachinery/pkg/labels"
)

// selector narrows a question to objects with certain labels, in kubectl's syntax.
type selector struct{ labels.Selector }

func parseSelector(text string) (selector, error) {
	if text == "" {
		return selector{}, nil
	}
	sel, err := labels.Parse(text)
	if err != nil {
		return selector{}, usage("write labels as kubectl does: app=shop,tier!=test", "selector %q: %s", text, err)
	}
	return selector{sel}, nil
}

func (s selector) empty() bool { return s.Selector == nil }

func (s selector) matches(o *model.Object) bool {
	return s.empty() || s.Matches(labels.Set(o.Labels))
}
