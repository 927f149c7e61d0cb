package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Attacher finds the targets of a policy by an algorithm of its vendor. The Ref of what it returns is -1 where no reference of the policy
// led there.
type Attacher func(p *Policy, g *topology.Graph, in *model.Snapshot, s model.Settings) ([]Attached, []model.Problem)

// Selection is what a selector picks objects by.
type Selection struct {
	labels     labels.Selector
	unlabelled bool            // picks objects without any label too
	from       string          // of namespaces: Same ("" as well), All, Selector
	namespaces labels.Selector // with Selector
}

// Everywhere reports whether the selection picks in every namespace without anybody's permission.
func (s *Selection) Everywhere() bool { return s.from == everywhere }

// everywhere is what no manifest can write: the vendor's setting lets the policy select in every namespace.
const everywhere = "*"

// Wide reports whether the selection may look into other namespaces than the policy's.
func (s *Selection) Wide() bool {
	return s.from == "All" || s.from == "Selector" || s.from == everywhere
}

// Picks reports whether the selection picks an object by its labels.
func (s *Selection) Picks(o *model.Object) bool {
	return s.labels.Matches(labels.Set(o.Labels)) && (s.unlabelled || len(o.Labels) > 0)
}

// Looks reports whether the selection looks into a namespace: whether it is the policy's own, and its Namespace object, nil if that is not
// known: then no label of it is.
func (s *Selection) Looks(own bool, ns *model.Object) bool {
	switch s.from {
	case "All", everywhere:
		return true
	case "Selector":
		return ns != nil && s.namespaces.Matches(labels.Set(ns.Labels))
	}
	return own
}

// selection reads what a selector asks for; not ok if it cannot be read.
func (d *decoder) selection(form RefForm, fields model.Body, at []string) (s *Selection, ok bool) {
	s = &Selection{unlabelled: !form.NeverUnlabelled}
	if s.labels, ok = d.labelSelector(fields, at); !ok {
		return nil, false
	}
	if s.labels.Empty() && form.EmptyNone {
		s.labels = labels.Nothing()
	}
	if form.Everywhere != "" && d.policy.Object.Ref.Namespace == d.kind.settings.Text(d.kind.Vendor+"."+form.Everywhere) {
		s.from = everywhere
		return s, true
	}
	if !form.NamespacesField {
		return s, true
	}
	namespaces := fields.Field("namespaces")
	s.from = namespaces.Text("from")
	if s.from == "Selector" {
		s.namespaces, ok = d.labelSelector(namespaces.Field("selector"), append(slices.Clone(at), "namespaces", "selector"))
	}
	return s, ok
}

// labelSelector reads matchLabels and matchExpressions.
func (d *decoder) labelSelector(fields model.Body, at []string) (labels.Selector, bool) {
	out := labels.NewSelector()
	bad := func(why string) (labels.Selector, bool) {
		d.problem(model.NotEvaluated, at, "%s: the selector cannot be read (%s) and selects nothing", strings.Join(at, "."), why)
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
	operator := map[string]selection.Operator{"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist}
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
