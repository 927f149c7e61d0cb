package selector

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// LabelSelector selects by labels. The zero value selects nothing.
type LabelSelector struct{ Selector Selector }

// Everything selects whatever there is.
func Everything() LabelSelector { return LabelSelector{Selector{Present: true}} }

// ReadLabelSelector reads a selector as Kubernetes writes it. One without requirements selects
// everything, one that is not there nothing. The error says why it cannot be read; it selects
// nothing then.
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
	s := Selector{Present: true}
	for key, value := range labels.Fields {
		if !value.IsText() {
			return LabelSelector{}, fmt.Errorf("the value of %s is no text", key)
		}
		s.Requirements = append(s.Requirements, Requirement{key, "In", []string{value.Text()}})
	}
	for i, e := range expressions.Items {
		r := Requirement{Key: e.Text("key"), Operator: e.Text("operator")}
		for _, value := range e.Field("values").Items {
			if !value.IsText() {
				return LabelSelector{}, fmt.Errorf("a value of matchExpressions[%d] is no text", i)
			}
			r.Values = append(r.Values, value.Text())
		}
		switch {
		case r.Key == "":
			return LabelSelector{}, fmt.Errorf("matchExpressions[%d] has no key", i)
		case !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, r.Operator):
			return LabelSelector{}, fmt.Errorf("there is no operator %q", r.Operator)
		}
		s.Requirements = append(s.Requirements, r)
	}
	return LabelSelector{s}, nil
}

// SelectsLabels reports whether the selector selects what has these labels.
func (s LabelSelector) SelectsLabels(labels map[string]string) bool {
	return s.Selector.Present && !slices.ContainsFunc(s.Selector.Requirements, func(r Requirement) bool {
		value, present := labels[r.Key]
		return r.holdsFor(value, present) != Yes
	})
}

// SelectsPartly is SelectsLabels for what may have other labels than these, if partial is set: whether
// these are asked for is not known then.
func (s LabelSelector) SelectsPartly(labels map[string]string, partial bool) Truth {
	if !s.Selector.Present {
		return No
	}
	out := Truth(Yes)
	for _, r := range s.Selector.Requirements {
		value, present := labels[r.Key]
		if partial && !present {
			out = min(out, Maybe)
			continue
		}
		out = min(out, r.holdsFor(value, present))
	}
	return out
}
