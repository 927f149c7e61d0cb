package policy

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TargetRef is one reference of a policy.
type TargetRef struct {
	Ref                  model.Ref  // namespace filled in; the name is empty for a selector
	Selection            *Selection // nil: the reference names its target
	Silent               bool
	RuleNameOnly         bool  // a rule is meant by its own name only
	InListenerSets       bool  // a listener of a Gateway is meant in the Gateway's ListenerSets as well
	OutranksListenerSets bool  // there it stands below what the set has
	Port                 int32 // of a Gateway: its listeners with the port are meant; 0: none is named
	Uncertain            []Uncertainty

	Object *model.Object // that of the policy
	At     []string      // where the reference stands in it
}

// Origin returns the place of the reference. It is looked up when asked for: finding a line costs
// reading the object's document again.
func (t TargetRef) Origin() model.Origin { return t.Object.OriginOf(t.At...) }

// Selection is what a selector picks objects by.
type Selection struct {
	Labels     labels.Selector
	Unlabelled bool            // it picks objects without any label too
	From       string          // of namespaces: Same ("" as well), All, Selector
	Namespaces labels.Selector // with Selector
	// it picks in every namespace without anybody's permission: the vendor's setting lets the
	// policy
	Everywhere bool
}

// CanCrossNamespaces reports whether the selection may look into other namespaces than the
// policy's.
func (s *Selection) CanCrossNamespaces() bool {
	return s.From == "All" || s.From == "Selector" || s.Everywhere
}

// SelectsObject reports whether the selection picks an object by its labels.
func (s *Selection) SelectsObject(o *model.Object) bool {
	return s.Labels.Matches(labels.Set(o.Labels)) && (s.Unlabelled || len(o.Labels) > 0)
}

// RequiredLabel returns a label that every object has that the selection picks; "" if it asks for
// none with one value.
func (s *Selection) RequiredLabel() (key, value string) {
	all, _ := s.Labels.Requirements()
	for i := range all {
		switch all[i].Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if values := all[i].ValuesUnsorted(); len(values) == 1 {
				return all[i].Key(), values[0]
			}
		}
	}
	return "", ""
}

// IncludesNamespace reports whether the selection looks into a namespace: whether that is the
// policy's own, and its Namespace object, nil if it is not known: then none of its labels is.
func (s *Selection) IncludesNamespace(own bool, ns *model.Object) bool {
	switch {
	case s.Everywhere || s.From == "All":
		return true
	case s.From == "Selector":
		return ns != nil && s.Namespaces.Matches(labels.Set(ns.Labels))
	}
	return own
}
