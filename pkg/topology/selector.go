package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nameLabel is on every namespace, with its name as the value, whether or not the Namespace is in the input (gatewayapi G5).
const nameLabel = "kubernetes.io/metadata.name"

// Truth is the answer to a question that the input may not settle. The smaller of two is both together, the larger either of them.
type Truth int8

// The answers.
const (
	No Truth = iota
	Maybe
	Yes
)

// selector is a label selector. The zero value selects nothing.
type selector struct {
	some         bool
	requirements []requirement // all must hold
}

type requirement struct {
	key, operator string
	values        []string
}

// selects reports whether s holds for a namespace; object is nil where its labels are not known (gatewayapi G14).
func (s selector) selects(name string, object *model.Object) Truth {
	if !s.some {
		return No
	}
	all := Yes
	for _, r := range s.requirements {
		switch {
		case r.key == nameLabel:
			all = min(all, r.holds(name, true))
		case object == nil:
			all = min(all, Maybe)
		default:
			value, ok := object.Labels[r.key]
			all = min(all, r.holds(value, ok))
		}
	}
	return all
}

func (r requirement) holds(value string, present bool) Truth {
	holds := false
	switch r.operator {
	case "In":
		holds = present && slices.Contains(r.values, value)
	case "NotIn":
		holds = !present || !slices.Contains(r.values, value)
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

// selector reads matchLabels and matchExpressions. A part of the wrong type makes f bad.
func (f *fields) selector() selector {
	s := selector{some: true}
	labels := f.object("matchLabels")
	for key := range labels.m.Fields {
		s.requirements = append(s.requirements, requirement{key, "In", []string{labels.text(key)}})
	}
	f.bad = f.bad || labels.bad
	for i, v := range f.list("matchExpressions").Items {
		e := f.r.entry(v, f.at.field("matchExpressions").entry(i))
		s.requirements = append(s.requirements, e.requirement())
		f.bad = f.bad || e.bad
	}
	return s
}

func (f *fields) requirement() requirement {
	r := requirement{key: f.text("key"), operator: f.text("operator")}
	for _, v := range f.list("values").Items {
		value := v.Text()
		if !v.IsText() {
			f.r.wrong(v, "a text", f.at.field("values"))
			f.bad = true
		}
		r.values = append(r.values, value)
	}
	switch r.operator {
	case "In", "NotIn", "Exists", "DoesNotExist":
	default:
		if !f.bad {
			f.r.invalid(f.at, f.at.String()+" has the operator "+r.operator+", which does not exist; nothing is selected")
		}
	}
	return r
}

// admission says from which namespaces a listener takes routes, or a Gateway listener sets. The zero value takes none.
type admission struct {
	from     string // All, Same or Selector; anything else takes no namespace
	selector selector
}

// admission reads a field namespaces with the value that an absent from has (gatewayapi G5, G14); otherwise says what any other value
// comes to. None can be written only where it is the default.
func (f *fields) admission(absent, otherwise string) admission {
	a := admission{from: f.textOr("from", absent)}
	switch {
	case f.bad, a.from == "All", a.from == "Same", a.from == absent:
	case a.from != "Selector":
		at, values := f.at.field("from"), "All, Same and Selector"
		if absent == "None" {
			values = "All, Same, Selector and None"
		}
		f.r.invalid(at, at.String()+" is "+a.from+", which is none of "+values+"; "+otherwise)
	case f.has("selector"): // an absent selector selects nothing, as everywhere in Kubernetes
		selector := f.object("selector")
		a.selector = selector.selector()
		f.bad = f.bad || selector.bad
	}
	return a
}

// selection is a question to the selector of a listener or a Gateway.
type selection struct {
	holder    NodeID
	namespace string
}

// admits reports whether the holder of an admission takes objects from the namespace (gatewayapi G14, G22).
func (gs *gateways) admits(holder NodeID, a *admission, namespace string) Truth {
	switch {
	case a.from == "All", a.from == "Same" && namespace == gs.nodes[holder].Ref.Namespace:
		return Yes
	case a.from != "Selector":
		return No
	}
	key := selection{holder, namespace}
	answer, ok := gs.asked[key]
	if !ok {
		answer = a.selector.selects(namespace, gs.in.Get(namespaceRef(namespace)))
		gs.asked[key] = answer
	}
	return answer
}
