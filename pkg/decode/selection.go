package decode

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// readSelection reads what a selector asks for; not ok if it cannot be read.
func (d referenceReader) readSelection(form policy.RefForm, fields model.Body, at []string) (s *policy.Selection,
	ok bool) {
	s = &policy.Selection{Unlabelled: !form.NeverUnlabelled}
	if s.Labels, ok = d.readLabelSelector(fields, at); !ok {
		return nil, false
	}
	if s.Labels.Empty() && form.EmptyNone {
		s.Labels = labels.Nothing()
	}
	if form.Everywhere != "" && d.policy.Object.Ref.Namespace == d.kind.Settings.Text(d.kind.Vendor+"."+
		form.Everywhere) {
		s.Everywhere = true
		return s, true
	}
	if !form.NamespacesField {
		return s, true
	}
	namespaces := fields.Field("namespaces")
	s.From = namespaces.Text("from")
	if s.From == "Selector" {
		s.Namespaces, ok = d.readLabelSelector(namespaces.Field("selector"),
			append(slices.Clone(at), "namespaces", "selector"))
	}
	return s, ok
}

// readLabelSelector reads matchLabels and matchExpressions.
func (d referenceReader) readLabelSelector(fields model.Body, at []string) (labels.Selector, bool) {
	out := labels.NewSelector()
	bad := func(why string) (labels.Selector, bool) {
		d.addProblem(model.NotEvaluated, at, "%s: the selector cannot be read (%s) and selects nothing",
			strings.Join(at, "."), why)
		return nil, false
	}
	raw := fields.Field("matchLabels")
	want, object := raw.Value().(map[string]any)
	if !raw.IsNull() && !object {
		return bad("matchLabels is no object")
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, text := want[key].(string)
		if !text {
			return bad("the value of " + key + " is no text")
		}
		r, err := labels.NewRequirement(key, selection.Equals, []string{value})
		if err != nil {
			return bad(err.Error())
		}
		out = out.Add(*r)
	}
	operator := map[string]selection.Operator{"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists,
		"DoesNotExist": selection.DoesNotExist}
	expressions := fields.Field("matchExpressions")
	if !expressions.IsNull() && !expressions.IsList() {
		return bad("matchExpressions is no list")
	}
	for _, e := range expressions.Items {
		var values []string
		for _, v := range e.Field("values").Items {
			values = append(values, v.Text())
		}
		r, err := labels.NewRequirement(e.Text("key"), operator[e.Text("operator")], values)
		if err != nil {
			return bad(err.Error())
		}
		out = out.Add(*r)
	}
	return out, true
}
