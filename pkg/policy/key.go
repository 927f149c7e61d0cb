package policy

import (
	"cmp"
	"slices"
	"strconv"
)

// Key is one key of a kind's comparator (engine E9): what is compared of two policies, and which
// value comes first.
type Key struct {
	By         By
	At         []string // for ByField the path, for ByLabel and ByAnnotation the name
	Values     []string // the values in order, first the one that comes first; others come last
	Number     bool     // values are numbers; what is none counts as absent
	Present    bool     // it only counts whether there is a value; without one comes first
	Descending bool
	Absent     string // the value of what is not there
	Func       Comparator
	Name       string // what to call it in messages; "": what it compares. A function without it has no name
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
	ByOpen           By = "open" // nothing: what the keys before it do not tell apart, the implementation leaves open
)

// Comparator compares two attached policies: negative if a comes first, that is, is established.
type Comparator func(a, b *Attached) int

// compare orders two attached policies by the key. The level is settled by the path, before
// policies of one place are compared.
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
		c = cmp.Compare(identityOf(a), identityOf(b))
	case BySection:
		c = cmp.Compare(boolRank(a.sectionName() == ""), boolRank(b.sectionName() == ""))
	case ByIndex:
		c = cmp.Compare(a.Index, b.Index)
	case ByField, ByLabel, ByAnnotation:
		c = k.compareValues(k.valueOf(a.Policy), k.valueOf(b.Policy))
	case ByFunc:
		c = k.Func(a, b)
	}
	if k.Descending {
		return -c
	}
	return c
}

// identityOf returns group/kind/namespace/name, with the section that the policy targets.
func identityOf(a *Attached) string {
	r := a.Policy.Object.Ref
	s := r.Group + "/" + r.Kind + "/" + r.Namespace + "/" + r.Name
	if section := a.sectionName(); section != "" {
		s += "/" + section
	}
	return s
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// valueOf returns what the key compares of one policy, "" where there is nothing.
func (k *Key) valueOf(p *Policy) string {
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

// compareValues compares two values, those that are not there as the key's Absent.
func (k *Key) compareValues(x, y string) int {
	x, y = cmp.Or(x, k.Absent), cmp.Or(y, k.Absent)
	switch {
	case k.Present:
		return cmp.Compare(boolRank(x != ""), boolRank(y != ""))
	case k.Values != nil:
		return cmp.Compare(k.rankOf(x), k.rankOf(y))
	case k.Number:
		return cmp.Compare(k.parseNumber(x), k.parseNumber(y))
	}
	return cmp.Compare(x, y)
}

// rankOf returns the position of a value in the key's list, behind all for one that is not in it.
func (k *Key) rankOf(v string) int {
	if i := slices.Index(k.Values, v); i >= 0 {
		return i
	}
	return len(k.Values)
}

func (k *Key) parseNumber(v string) float64 {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return n
	}
	n, err := strconv.ParseFloat(k.Absent, 64)
	if err != nil {
		return 0
	}
	return n
}
