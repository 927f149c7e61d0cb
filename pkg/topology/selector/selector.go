package selector

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nameLabel is on every namespace, with its name as the value, whether or not the Namespace is in
// the input (gatewayapi G5).
const nameLabel = "kubernetes.io/metadata.name"

// Truth is the answer to a question that the input may not settle. The smaller of two is both
// together, the larger either of them.
type Truth int8

// The answers.
const (
	No Truth = iota
	Maybe
	Yes
)

// Selector is a label selector. The zero value selects nothing.
type Selector struct {
	Present      bool
	Requirements []Requirement // all must hold
}

// Requirement is what a selector asks of one label.
type Requirement struct {
	Key, Operator string
	Values        []string
}

// SelectsNamespace reports whether s holds for a namespace; object is nil where its labels are not
// known (gatewayapi G14).
func (s Selector) SelectsNamespace(name string, object *model.Object) Truth {
	if !s.Present {
		return No
	}
	all := Yes
	for _, r := range s.Requirements {
		switch {
		case r.Key == nameLabel:
			all = min(all, r.holdsFor(name, true))
		case object == nil:
			all = min(all, Maybe)
		default:
			value, ok := object.Labels[r.Key]
			all = min(all, r.holdsFor(value, ok))
		}
	}
	return all
}

func (r Requirement) holdsFor(value string, present bool) Truth {
	holds := false
	switch r.Operator {
	case "In":
		holds = present && slices.Contains(r.Values, value)
	case "NotIn":
		holds = !present || !slices.Contains(r.Values, value)
	case "Exists":
		holds = present
	case "DoesNotExist":
		holds = !present
	}
	if holds {
		return Yes
	}
	return No
}

// Admission says from which namespaces a listener takes routes, or a Gateway listener sets. The
// zero value takes none.
type Admission struct {
	From     string // All, Same or Selector; anything else takes no namespace
	Selector Selector
}
