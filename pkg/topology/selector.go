package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nameLabel is on every namespace, with its name as the value, whether or not the Namespace is in the input (gatewayapi G5).
const nameLabel = "kubernetes.io/metadata.name"

// truth is the answer to a question that the input may not settle. The smaller of two is both together.
type truth int8

const (
	no truth = iota
	unknown
	yes
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
func (s selector) selects(name string, object *model.Object) truth {
	if !s.some {
		return no
	}
	all := yes
	for _, r := range s.requirements {
		switch {
		case r.key == nameLabel:
			all = min(all, r.holds(name, true))
		case object == nil:
			all = min(all, unknown)
		default:
			value, ok := object.Labels[r.key]
			all = min(all, r.holds(value, ok))
		}
	}
	return all
}

func (r requirement) holds(value string, present bool) truth {
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
		return yes
	}
	return no
}

// readSelector reads matchLabels and matchExpressions. A part of the wrong type makes f bad.
func (b *builder) readSelector(f *fields) selector {
	s := selector{some: true}
	labels := f.object("matchLabels")
	for key := range labels.m.Fields {
		s.requirements = append(s.requirements, requirement{key, "In", []string{labels.text(key)}})
	}
	f.bad = f.bad || labels.bad
	for i, v := range f.list("matchExpressions").Items {
		e := b.entry(v, f.at.field("matchExpressions").entry(i))
		s.requirements = append(s.requirements, b.readRequirement(&e))
		f.bad = f.bad || e.bad
	}
	return s
}

func (b *builder) readRequirement(f *fields) requirement {
	r := requirement{key: f.text("key"), operator: f.text("operator")}
	for _, v := range f.list("values").Items {
		value := v.Text()
		if !v.IsText() {
			b.wrong(v, "a text", f.at.field("values"))
			f.bad = true
		}
		r.values = append(r.values, value)
	}
	switch r.operator {
	case "In", "NotIn", "Exists", "DoesNotExist":
	default:
		if !f.bad {
			b.invalid(f.at, f.at.String()+" has the operator "+r.operator+", which does not exist; nothing is selected")
		}
	}
	return r
}

// selection is a question to the selector of a listener.
type selection struct {
	listener  NodeID
	namespace string
}

// admits reports whether the listener takes routes from the namespace (gatewayapi G14).
func (b *builder) admits(id NodeID, namespace string) truth {
	l := &b.listeners[id-b.firstListener]
	switch {
	case l.from == "All", l.from == "Same" && namespace == l.ref.Namespace:
		return yes
	case l.from != "Selector":
		return no
	}
	key := selection{id, namespace}
	answer, ok := b.selected[key]
	if !ok {
		answer = l.selector.selects(namespace, b.in.Get(namespaceRef(namespace)))
		b.selected[key] = answer
	}
	return answer
}
