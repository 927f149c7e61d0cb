package decode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// referenceReader reads the references of a policy.
type referenceReader struct{ *decoder }

// readAll reads the policy's references by the forms of its kind.
func (d referenceReader) readAll() {
	found := 0
	for _, form := range d.kind.Refs {
		if form.HasVendorSearch() {
			found++ // a function of the vendor finds the targets
			continue
		}
		if form.Unless != nil && !d.body.At(form.Unless...).IsNull() {
			continue
		}
		switch raw := d.body.At(form.At...); {
		case raw.IsNull():
		case raw.IsObject():
			found++
			d.readEntry(form, raw, form.At)
		case raw.IsList():
			for i, entry := range raw.Items {
				found++
				d.readEntry(form, entry, append(slices.Clone(form.At), strconv.Itoa(i)))
			}
		default:
			found++
			d.guess.addUnknownRef(form.At)
			d.addProblem(model.WrongType, form.At, "%s is neither an object nor a list: the policy does not attach",
				strings.Join(form.At, "."))
		}
	}
	switch {
	case found > 0:
	case d.kind.Filters != nil: // a filter may name it
	case d.kind.IsGeneric(): // there may be one that is not understood
	default:
		d.reportNoTarget()
	}
}

// reportNoTarget reports that the policy refers to nothing.
func (d referenceReader) reportNoTarget() {
	d.addProblem(model.TargetNotFound, d.kind.Content.At,
		"the policy has no target reference: it does not attach").Hint = "add " + d.listRefFields()
}

func (d referenceReader) listRefFields() string {
	var out []string
	for _, f := range d.kind.Refs {
		if f.At != nil {
			out = append(out, strings.Join(f.At, "."))
		}
	}
	return strings.Join(out, " or ")
}

func (d referenceReader) readRef(form policy.RefForm, fields model.Body, at []string) {
	where := func() string {
		if len(at) > len(form.At) {
			return strings.Join(form.At, ".") + "[" + at[len(at)-1] + "]"
		}
		return strings.Join(form.At, ".")
	}
	if !fields.IsObject() {
		d.addProblem(model.WrongType, at, "%s is not an object: this reference does not attach", where())
		return
	}
	t := policy.TargetRef{Silent: form.Silent, RuleNameOnly: form.RuleNameOnly, InListenerSets: form.InListenerSets,
		OutranksListenerSets: form.OutranksListenerSets, Object: d.policy.Object, At: at}
	var wrong string
	if t.Ref, wrong = readRefFields(fields); wrong != "" {
		d.addProblem(model.WrongType, append(slices.Clone(at), wrong),
			"%s.%s is not a string: this reference does not attach", where(), wrong)
		return
	}
	if group, version, found := strings.Cut(t.Ref.Group, "/"); found {
		d.addProblem(model.GroupWithVersion, at, "%s.group is %q: a group has no version, %q is dropped", where(),
			t.Ref.Group, version).Severity = model.Info
		t.Ref.Group = group
	}
	if form.CoreName != "" && t.Ref.Group == form.CoreName {
		t.Ref.Group = ""
	}
	if t.Ref.Kind == "" || t.Ref.Name == "" && !form.Selector {
		d.addProblem(model.WrongType, at, "%s has no kind or no name: this reference does not attach", where())
		return
	}
	if number, err := fields.Field("port").Value().(int64); err && form.ByPort && t.Ref.Kind == "Gateway" {
		t.Port = int32(number)
	}
	if t.Ref.Namespace == "" {
		t.Ref.Namespace = d.policy.Object.Ref.Namespace
	}
	if form.Selector {
		var ok bool
		if t.Selection, ok = d.readSelection(form, fields, at); !ok {
			return
		}
		t.Ref.Name = ""
	}
	d.policy.Refs = append(d.policy.Refs, t)
}

// readRefFields returns what a reference names, and the first of its fields, in alphabetical order,
// that is not a string.
func readRefFields(fields model.Body) (ref model.Ref, wrong string) {
	for key, v := range fields.Fields {
		var into *string
		switch key {
		case "group":
			into = &ref.Group
		case "kind":
			into = &ref.Kind
		case "name":
			into = &ref.Name
		case "namespace":
			into = &ref.Namespace
		case "sectionName":
			into = &ref.Section
		default:
			continue
		}
		if *into = v.Text(); !v.IsNull() && !v.IsText() && (wrong == "" || key < wrong) {
			wrong = key
		}
	}
	return ref, wrong
}

// readEntry reads one reference. What cannot be read as one may mean a target all the same to a
// kind without a descriptor.
func (d referenceReader) readEntry(form policy.RefForm, raw model.Body, at []string) {
	known := len(d.policy.Refs)
	d.readRef(form, raw, at)
	if !d.kind.IsGeneric() {
		return
	}
	if len(d.policy.Refs) == known || raw.Field("group").IsNull() && !isCoreKind(raw.Text("kind")) ||
		strings.Contains(raw.Text("kind")+raw.Text("name"), "*") {
		d.guess.addUnknownRef(at)
		return
	}
	ref := &d.policy.Refs[known]
	for key, value := range raw.Fields {
		if !value.IsNull() && !slices.Contains(knownRefFields(form), key) {
			ref.Uncertain = append(ref.Uncertain, d.guess.newUncertainty(append(slices.Clone(at), key),
				"what it asks for"))
		}
	}
	slices.SortFunc(ref.Uncertain, func(a, b policy.Uncertainty) int { return strings.Compare(a.Field, b.Field) })
}

// knownRefFields returns the fields of a reference that are understood.
func knownRefFields(f policy.RefForm) []string {
	if f.Selector {
		return []string{"group", "kind", "namespace", "sectionName", "matchLabels", "matchExpressions"}
	}
	return []string{"group", "kind", "namespace", "name", "sectionName"}
}

// isCoreKind reports whether a kind may be meant to be one of Kubernetes itself where a reference
// names no group.
func isCoreKind(kind string) bool {
	return slices.Contains([]string{"ConfigMap", "Namespace", "Node", "Pod", "Secret", "Service", "ServiceAccount"},
		kind)
}
