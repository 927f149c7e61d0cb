package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TargetRef is one reference of a policy.
type TargetRef struct {
	Ref     model.Ref  // namespace filled in; the name is empty for a selector
	Selects *Selection // nil: the reference names its target
	Silent  bool
	Named   bool // a rule is meant by its own name only
	InSets  bool // a listener of a Gateway is meant in the Gateway's ListenerSets as well
	Doubts  []Doubt

	object *model.Object
	at     []string
}

// Origin is the place of the reference. It is looked up when asked for: finding a line costs reading the object's document again.
func (t TargetRef) Origin() model.Origin { return t.object.OriginOf(t.at...) }

// maxRefs is how many references a policy may have (gatewayapi §8).
const maxRefs = 16

// refs reads the policy's references by the forms of its kind.
func (d *decoder) refs() {
	found := 0
	for _, form := range d.kind.Refs {
		if form.ByVendor() {
			found++ // it looks for itself
			continue
		}
		if form.Unless != nil && !d.body.At(form.Unless...).IsNull() {
			continue
		}
		switch raw := d.body.At(form.At...); {
		case raw.IsNull():
		case raw.IsObject():
			found++
			d.read(form, raw, form.At)
		case raw.IsList():
			for i, entry := range raw.Items {
				found++
				d.read(form, entry, append(slices.Clone(form.At), strconv.Itoa(i)))
			}
		default:
			found++
			d.stray(form.At)
			d.problem(model.WrongType, form.At, "%s is neither an object nor a list: the policy does not attach", strings.Join(form.At, "."))
		}
	}
	switch {
	case found == 0 && d.kind.Filters != nil: // a filter may name it
	case found == 0 && d.kind.Generic(): // there may be one that is not understood
	case found == 0:
		d.aimless()
	case found > maxRefs:
		d.problem(model.InvalidObject, d.kind.Content.At, "%d target references, the API server takes %d", found, maxRefs)
	}
}

// aimless reports that the policy refers to nothing.
func (d *decoder) aimless() {
	d.problem(model.TargetNotFound, d.kind.Content.At, "the policy has no target reference: it does not attach").Hint = "add " + d.forms()
}

func (d *decoder) forms() string {
	var out []string
	for _, f := range d.kind.Refs {
		if f.At != nil {
			out = append(out, strings.Join(f.At, "."))
		}
	}
	return strings.Join(out, " or ")
}

func (d *decoder) ref(form RefForm, fields model.Body, at []string) {
	where := strings.Join(form.At, ".")
	if len(at) > len(form.At) {
		where += "[" + at[len(at)-1] + "]"
	}
	if !fields.IsObject() {
		d.problem(model.WrongType, at, "%s is not an object: this reference does not attach", where)
		return
	}
	for _, key := range []string{"group", "kind", "name", "namespace", "sectionName"} {
		if v := fields.Field(key); !v.IsNull() && !v.IsText() {
			d.problem(model.WrongType, append(slices.Clone(at), key), "%s.%s is not a string: this reference does not attach", where, key)
			return
		}
	}
	t := TargetRef{Silent: form.Silent, Named: form.Named, InSets: form.InSets, object: d.policy.Object, at: at}
	t.Ref = model.Ref{Group: fields.Text("group"), Kind: fields.Text("kind"), Name: fields.Text("name"),
		Namespace: fields.Text("namespace"), Section: fields.Text("sectionName")}
	if group, version, found := strings.Cut(t.Ref.Group, "/"); found {
		d.problem(model.GroupWithVersion, at, "%s.group is %q: a group has no version, %q is dropped", where, t.Ref.Group, version).Severity = model.Info
		t.Ref.Group = group
	}
	if t.Ref.Kind == "" || t.Ref.Name == "" && !form.Selector {
		d.problem(model.WrongType, at, "%s has no kind or no name: this reference does not attach", where)
		return
	}
	if t.Ref.Namespace == "" {
		t.Ref.Namespace = d.policy.Object.Ref.Namespace
	}
	if form.Selector {
		var ok bool
		if t.Selects, ok = d.selection(form, fields, at); !ok {
			return
		}
		t.Ref.Name = ""
	}
	d.policy.Refs = append(d.policy.Refs, t)
}
