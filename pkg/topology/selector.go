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
	present      bool
	requirements []requirement // all must hold
}

// requirement is what a selector asks of one label.
type requirement struct {
	key, operator string
	values        []string
}

// selectsNamespace reports whether s holds for a namespace; object is nil where its labels are not
// known (gatewayapi G14).
func (s selector) selectsNamespace(name string, object *model.Object) Truth {
	if !s.present {
		return No
	}
	all := Yes
	for _, r := range s.requirements {
		switch {
		case r.key == nameLabel:
			all = min(all, r.holdsFor(name, true))
		case object == nil:
			all = min(all, Maybe)
		default:
			value, ok := object.Labels[r.key]
			all = min(all, r.holdsFor(value, ok))
		}
	}
	return all
}

func (r requirement) holdsFor(value string, present bool) Truth {
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

// readSelector reads matchLabels and matchExpressions. A part of the wrong type makes f bad.
func (f *fieldReader) readSelector() selector {
	s := selector{present: true}
	labels := f.readObject("matchLabels")
	for key := range labels.body.Fields {
		s.requirements = append(s.requirements, requirement{key: key, operator: "In", values: []string{labels.readText(key)}})
	}
	f.bad = f.bad || labels.bad
	for i, v := range f.readList("matchExpressions").Items {
		e := f.reader.readEntry(v, f.at.atField("matchExpressions").atEntry(i))
		s.requirements = append(s.requirements, e.readRequirement())
		f.bad = f.bad || e.bad
	}
	return s
}

func (f *fieldReader) readRequirement() requirement {
	r := requirement{key: f.readText("key"), operator: f.readText("operator")}
	for _, v := range f.readList("values").Items {
		value := v.Text()
		if !v.IsText() {
			f.reader.reportWrongType(v, "a text", f.at.atField("values"))
			f.bad = true
		}
		r.values = append(r.values, value)
	}
	switch r.operator {
	case "In", "NotIn", "Exists", "DoesNotExist":
	default:
		if !f.bad {
			f.reader.reportInvalid(f.at, f.at.String()+" has the operator "+r.operator+", which does not exist; nothing is selected")
		}
	}
	return r
}

// admission says from which namespaces a listener takes routes, or a Gateway listener sets. The zero value takes none.
type admission struct {
	from     string // All, Same or Selector; anything else takes no namespace
	selector selector
}

// readAdmission reads a field namespaces with the value that an absent from has (gatewayapi G5,
// G14); otherwise says what any other value comes to. None can be written only where it is the
// default.
func (f *fieldReader) readAdmission(absent, otherwise string) admission {
	a := admission{from: f.readTextOr("from", absent)}
	switch {
	case f.bad, a.from == "All", a.from == "Same", a.from == absent:
	case a.from != "Selector":
		at, values := f.at.atField("from"), "All, Same and Selector"
		if absent == "None" {
			values = "All, Same, Selector and None"
		}
		f.reader.reportInvalid(at, at.String()+" is "+a.from+", which is none of "+values+"; "+otherwise)
	case f.hasField("selector"): // an absent selector selects nothing, as everywhere in Kubernetes
		selector := f.readObject("selector")
		a.selector = selector.readSelector()
		f.bad = f.bad || selector.bad
	}
	return a
}

// admissionQuery is a question to the selector of a listener or a Gateway.
type admissionQuery struct {
	holder    NodeID
	namespace string
}

// admitsNamespace reports whether the holder of an admission takes objects from the namespace
// (gatewayapi G14, G22).
func (gs *gatewayBuilder) admitsNamespace(holder NodeID, a *admission, namespace string) Truth {
	switch {
	case a.from == "All", a.from == "Same" && namespace == gs.nodes.Node(holder).Ref.Namespace:
		return Yes
	case a.from != "Selector":
		return No
	}
	key := admissionQuery{holder, namespace}
	answer, ok := gs.admissions[key]
	if !ok {
		answer = a.selector.selectsNamespace(namespace, gs.in.Get(namespaceRef(namespace)))
		gs.admissions[key] = answer
	}
	return answer
}
