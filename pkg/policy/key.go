package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Key is one key of a kind's comparator (engine E9): what is compared of two policies, and which value comes first.
type Key struct {
	By         By
	At         []string // for ByField the path, for ByLabel and ByAnnotation the name
	Of         []string // the values in order, first the one that comes first; others come last
	Number     bool     // values are numbers; what is none counts as absent
	Present    bool     // it only counts whether there is a value; without one comes first
	Descending bool
	Absent     string // the value of what is not there
	Func       Comparator
	Called     string // what to call it in messages; "": what it compares. A function without it has no name
}

// By is what a key compares.
type By string

// The sorts of keys.
const (
	ByLevel          By = "level" // settled by the path; a comparator without it orders whole stacks
	ByCreated        By = "created"
	ByName           By = "name"
	ByNamespace      By = "namespace"
	ByNamespacedName By = "namespacedName"
	ByIdentity       By = "identity" // group/kind/namespace/name/section as one text
	BySection        By = "section"  // attached to a section before attached to a whole object
	ByIndex          By = "index"    // position among the references that led there
	ByField          By = "field"
	ByLabel          By = "label"
	ByAnnotation     By = "annotation"
	ByFunc           By = "func"
)

// Comparator compares two attached policies: negative if a comes first, that is, is established.
type Comparator func(a, b *Attached) int

var keyWords = []string{string(ByLevel), string(ByCreated), string(ByName), string(ByNamespace), string(ByNamespacedName), string(ByIdentity), string(BySection), string(ByIndex)}

// usualOrder is GEP-713's: older first, then by name (gep713 P17).
func usualOrder() []Key { return []Key{{By: ByLevel}, {By: ByCreated}, {By: ByNamespacedName}} }

func (r *kindReader) compare(n *yaml.Node) {
	r.kind.Compare = nil
	r.list(n, func(e *yaml.Node) {
		var k Key
		if e.Kind == yaml.MappingNode {
			k = r.key(e)
		} else {
			var s string
			r.word(&s, keyWords)(e)
			k.By = By(s)
		}
		if slices.ContainsFunc(r.kind.Compare, func(o Key) bool { return o.By == k.By && slices.Equal(o.At, k.At) && k.Func == nil }) {
			r.fail(e, "%q is a key already", strings.Join(append([]string{string(k.By)}, k.At...), " "))
		}
		r.kind.Compare = append(r.kind.Compare, k)
	})
	for i, k := range r.kind.Compare {
		if k.By == ByLevel && i > 0 {
			r.fail(n, "\"level\" must be the first key")
		}
	}
}

// key reads a key that is an object.
func (r *kindReader) key(n *yaml.Node) Key {
	var k Key
	by := func(b By, read func(*yaml.Node)) field {
		return func(n *yaml.Node) {
			if k.By != "" {
				r.fail(n, "a key compares one thing, %s or %s", k.By, b)
			}
			k.By = b
			read(n)
		}
	}
	name := func(n *yaml.Node) {
		k.At = []string{""}
		r.text(&k.At[0])(n)
	}
	function := func(n *yaml.Node) {
		var name string
		r.text(&name)(n)
		if k.Func = r.funcs.Compare[name]; k.Func == nil {
			r.fail(n, "there is no function %q to compare policies", name)
		}
	}
	var form string
	r.object(n, map[string]field{"field": by(ByField, r.path(&k.At)), "label": by(ByLabel, name), "annotation": by(ByAnnotation, name), "func": by(ByFunc, function),
		"part": nil, "of": r.texts(&k.Of), "type": r.word(&form, []string{"text", "number", "present"}), "descending": r.flag(&k.Descending), "called": r.text(&k.Called),
		"absent": func(n *yaml.Node) { k.Absent = n.Value }})
	if k.By == "" && len(r.lines) == 0 {
		r.fail(n, "a key needs \"field\", \"label\", \"annotation\" or \"func\"")
	}
	k.Number, k.Present = form == "number", form == "present"
	return k
}

// compare orders two attached policies by the key. The level is settled by the path, before policies of one place are compared.
func (k *Key) compare(a, b *Attached) int {
	c := 0
	x, y := a.Policy.Object, b.Policy.Object
	switch k.By {
	case ByCreated:
		c = x.Created.Compare(y.Created)
	case ByName:
		c = cmp.Compare(x.Ref.Name, y.Ref.Name)
	case ByNamespace:
		c = cmp.Compare(x.Ref.Namespace, y.Ref.Namespace)
	case ByNamespacedName:
		c = cmp.Compare(x.Ref.FullName(), y.Ref.FullName())
	case ByIdentity:
		c = cmp.Compare(identity(a), identity(b))
	case BySection:
		c = cmp.Compare(ordinal(a.section() == ""), ordinal(b.section() == ""))
	case ByIndex:
		c = cmp.Compare(a.Index, b.Index)
	case ByField, ByLabel, ByAnnotation:
		c = k.values(k.value(a.Policy), k.value(b.Policy))
	case ByFunc:
		c = k.Func(a, b)
	}
	if k.Descending {
		return -c
	}
	return c
}

// identity is group/kind/namespace/name, with the section that the policy targets.
func identity(a *Attached) string {
	r := a.Policy.Object.Ref
	s := r.Group + "/" + r.Kind + "/" + r.Namespace + "/" + r.Name
	if section := a.section(); section != "" {
		s += "/" + section
	}
	return s
}

func ordinal(b bool) int {
	if b {
		return 1
	}
	return 0
}

// value is what the key compares of one policy, "" where there is nothing.
func (k *Key) value(p *Policy) string {
	o := p.Object
	switch k.By {
	case ByLabel:
		return p.Label(k.At[0])
	case ByAnnotation:
		return o.Annotations[k.At[0]]
	}
	v := o.Body.At(k.At...)
	if v.IsNull() {
		return ""
	}
	return v.String()
}

// values compares two values, those that are not there as the key's Absent.
func (k *Key) values(x, y string) int {
	x, y = cmp.Or(x, k.Absent), cmp.Or(y, k.Absent)
	switch {
	case k.Present:
		return cmp.Compare(ordinal(x != ""), ordinal(y != ""))
	case k.Of != nil:
		return cmp.Compare(k.rank(x), k.rank(y))
	case k.Number:
		return cmp.Compare(k.number(x), k.number(y))
	}
	return cmp.Compare(x, y)
}

// rank is the position of a value in the key's list, behind all for one that is not in it.
func (k *Key) rank(v string) int {
	if i := slices.Index(k.Of, v); i >= 0 {
		return i
	}
	return len(k.Of)
}

func (k *Key) number(v string) float64 {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return n
	}
	n, err := strconv.ParseFloat(k.Absent, 64)
	if err != nil {
		return 0
	}
	return n
}
