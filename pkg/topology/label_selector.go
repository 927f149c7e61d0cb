package topology

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// LabelSelector selects by labels. The zero value selects nothing.
type LabelSelector struct{ selector selector }

// Everything selects whatever there is.
func Everything() LabelSelector { return LabelSelector{selector{present: true}} }

// ReadLabelSelector reads a selector as Kubernetes writes it. One without requirements selects everything, one that is not there nothing. The error
// says why it cannot be read; it selects nothing then.
func ReadLabelSelector(v model.Body) (LabelSelector, error) {
	if v.IsNull() {
		return LabelSelector{}, nil
	}
	labels, expressions := v.Field("matchLabels"), v.Field("matchExpressions")
	switch {
	case !v.IsObject():
		return LabelSelector{}, errors.New("it is no object")
	case !labels.IsNull() && !labels.IsObject():
		return LabelSelector{}, errors.New("matchLabels is no object")
	case !expressions.IsNull() && !expressions.IsList():
		return LabelSelector{}, errors.New("matchExpressions is no list")
	}
	for key := range v.Fields {
		if key != "matchLabels" && key != "matchExpressions" {
			return LabelSelector{}, fmt.Errorf("a selector has no field %s", key)
		}
	}
	s := selector{present: true}
	for key, value := range labels.Fields {
		if !value.IsText() {
			return LabelSelector{}, fmt.Errorf("the value of %s is no text", key)
		}
		s.requirements = append(s.requirements, requirement{key, "In", []string{value.Text()}})
	}
	for i, e := range expressions.Items {
		r := requirement{key: e.Text("key"), operator: e.Text("operator")}
		for _, value := range e.Field("values").Items {
			if !value.IsText() {
				return LabelSelector{}, fmt.Errorf("a value of matchExpressions[%d] is no text", i)
			}
			r.values = append(r.values, value.Text())
		}
		switch {
		case r.key == "":
			return LabelSelector{}, fmt.Errorf("matchExpressions[%d] has no key", i)
		case !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, r.operator):
			return LabelSelector{}, fmt.Errorf("there is no operator %q", r.operator)
		}
		s.requirements = append(s.requirements, r)
	}
	return LabelSelector{s}, nil
}

// SelectsLabels reports whether the selector selects what has these labels.
func (s LabelSelector) SelectsLabels(labels map[string]string) bool {
	return s.selector.present && !slices.ContainsFunc(s.selector.requirements, func(r requirement) bool {
		value, present := labels[r.key]
		return r.holdsFor(value, present) != Yes
	})
}

// SelectsNamespace reports whether the selector selects a namespace. The label with its name is on
// every one; others are known only if the Namespace is in the input.
func (f *referenceJudge) SelectsNamespace(s LabelSelector, name string) Truth {
	return s.selector.selectsNamespace(name, f.in.Get(namespaceRef(name)))
}
