package sides

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
)

// deletedName is an object to delete, as it was typed.
type deletedName struct {
	kinds           []model.GroupKind // that the text begins with; nil: any
	namespace, name string
}

// parseDeletedName reads [KIND/][NAMESPACE/]NAME. The first of two words is a kind, unless no kind
// is called so and a namespace of the input is.
func (x *kindIndex) parseDeletedName(text string) (deletedName, error) {
	parts := strings.Split(text, "/")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return deletedName{}, failure.Usage(
			"write [KIND/][NAMESPACE/]NAME, for example authpolicy/infra/gw-auth",
			"--delete %q is not the name of an object", text)
	}
	d := deletedName{name: parts[len(parts)-1]}
	kind := ""
	switch {
	case len(parts) == 3:
		kind, d.namespace = parts[0], parts[1]
	case len(parts) == 2 && x.findKinds(parts[0]) == nil && x.hasNamespace(parts[0]):
		d.namespace = parts[0]
	case len(parts) == 2:
		kind = parts[0]
	}
	if kind == "" {
		return d, nil
	}
	if d.kinds = x.findKinds(kind); d.kinds == nil {
		hint := "write KIND/NAMESPACE/NAME, for example authpolicy/infra/gw-auth"
		if near := form.Nearest(kind, x.listKindWords()); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return d, failure.Usage(hint, "--delete: unknown kind %q", kind)
	}
	return d, nil
}

// kindNoun is what the object is called in messages.
func (d deletedName) kindNoun() string {
	if d.kinds == nil {
		return "object"
	}
	return strings.ToLower(d.kinds[0].Kind)
}

// kindIndex knows the spellings of the kinds of an input.
type kindIndex struct {
	in    *model.Snapshot
	names map[model.GroupKind][]string
}

func newKindIndex(in *model.Snapshot, catalog *descriptor.Catalog) *kindIndex {
	x := &kindIndex{in: in, names: map[model.GroupKind][]string{}}
	for _, k := range source.TargetKinds() {
		x.names[k.Gk] = source.SpellKind(k.Gk, k.Plural, k.Short)
	}
	for _, k := range catalog.Kinds() {
		x.names[k.GroupKind] = source.SpellKind(k.GroupKind, k.Plural, k.ShortNames)
	}
	for _, gk := range in.Kinds() {
		if x.names[gk] == nil {
			x.names[gk] = source.SpellKind(gk, descriptor.PluralOf(gk.Kind), nil)
		}
		if k := in.Cluster.FindKind(gk); k != nil {
			x.names[gk] = append(append(x.names[gk], k.Singular), source.SpellKind(gk, k.Plural, k.ShortNames)...)
		}
	}
	return x
}

// findKinds returns the kinds that a word means, in or out of the input.
func (x *kindIndex) findKinds(word string) []model.GroupKind {
	var out []model.GroupKind
	for gk, names := range x.names {
		if slices.Contains(names, strings.ToLower(word)) {
			out = append(out, gk)
		}
	}
	slices.SortFunc(out, model.GroupKind.Compare)
	return out
}

// listKindWords returns the spellings of kinds that may be meant by a misspelt one.
func (x *kindIndex) listKindWords() []string {
	var out []string
	for _, names := range x.names {
		out = append(out, names[:2]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hasNamespace reports whether an object of the input is in a namespace.
func (x *kindIndex) hasNamespace(name string) bool {
	return slices.ContainsFunc(x.in.Objects, func(o *model.Object) bool { return o.Ref.Namespace == name })
}

// listObjects returns the objects of some kinds, nil for all, in a namespace, "" for all. A Namespace is there if
// something is in it.
func (x *kindIndex) listObjects(kinds []model.GroupKind, namespace string) []model.Ref {
	var out []model.Ref
	for _, o := range x.in.Objects {
		if o.Ref.Namespace != "" && slices.ContainsFunc(kinds, isNamespace) {
			out = append(out, model.Ref{Kind: "Namespace", Name: o.Ref.Namespace})
		}
		if (kinds == nil || slices.Contains(kinds, o.Ref.GroupKind())) && (namespace == "" || o.Ref.Namespace == namespace ||
			o.Ref.Namespace == "") {
			out = append(out, o.Ref)
		}
	}
	slices.SortFunc(out, model.Ref.Compare)
	return slices.Compact(out)
}

func isNamespace(gk model.GroupKind) bool { return gk.Group == "" && gk.Kind == "Namespace" }

// deleteObjects leaves out of an input what --delete names; what is in a deleted Namespace, and the
// objects of a deleted definition, go with it.
func (r *Reader) deleteObjects(in *model.Snapshot) (*model.Snapshot, error) {
	if len(r.Flags.Deleted) == 0 {
		return in, nil
	}
	x := newKindIndex(in, r.Engine.Catalog())
	objects, spaces, kinds := map[model.Ref]bool{}, map[string]bool{}, map[model.GroupKind]bool{}
	for _, text := range r.Flags.Deleted {
		ref, err := r.findDeleted(x, text)
		if err != nil {
			return nil, err
		}
		objects[ref] = true
		if isNamespace(ref.GroupKind()) {
			spaces[ref.Name] = true
		}
		if o := in.Get(ref); o != nil {
			if gk, ok := o.DefinedKind(); ok {
				kinds[gk] = true
			}
		}
	}
	return load.RemoveObjects(in, func(ref model.Ref) bool {
		return objects[ref] || spaces[ref.Namespace] && ref.Namespace != "" || kinds[ref.GroupKind()]
	}), nil
}

// findDeleted finds the one object that --delete names.
func (r *Reader) findDeleted(x *kindIndex, text string) (model.Ref, error) {
	d, err := x.parseDeletedName(text)
	if err != nil {
		return model.Ref{}, err
	}
	namespace := d.namespace
	if namespace == "" && !r.Flags.Source.AllNamespaces {
		namespace = r.Flags.givenNamespace
	}
	var found []model.Ref
	for _, ref := range x.listObjects(d.kinds, namespace) {
		if ref.Name == d.name {
			found = append(found, ref)
		}
	}
	switch len(found) {
	case 0:
		return model.Ref{}, r.deletedNotFound(x, d, namespace)
	case 1:
		return found[0], nil
	}
	return model.Ref{}, failure.Usage("name one of: "+source.FormatRefs(found),
		"--delete: %q is ambiguous: %d objects have this name", text, len(found))
}

// deletedNotFound is the error for an object that is not in the input.
func (r *Reader) deletedNotFound(x *kindIndex, d deletedName, namespace string) error {
	all := x.listObjects(d.kinds, "")
	var here, elsewhere []model.Ref
	var names []string
	for _, ref := range all {
		switch {
		case namespace == "" || ref.Namespace == namespace || ref.Namespace == "":
			here = append(here, ref)
			names = append(names, ref.Name)
		case ref.Name == d.name:
			elsewhere = append(elsewhere, ref)
		}
	}
	hint := "there is no " + d.kindNoun() + " at all"
	near := form.Nearest(d.name, names)
	switch {
	case len(elsewhere) > 0:
		hint = "there is " + source.FormatRefs(elsewhere)
	case len(near) > 0:
		hint = "did you mean " + here[slices.Index(names, near[0])].String() + "?"
	case len(here) > 0:
		hint = "there are: " + source.FormatRefs(here)
	case len(all) > 0:
		hint = "there are: " + source.FormatRefs(all)
	}
	where := "on the second side"
	if namespace != "" {
		where = "in namespace " + namespace + " on the second side"
	}
	s := &source.Session{Flags: &r.Flags.Source, Streams: r.Streams,
		Input: &dopolicy.Input{Resolution: &resolve.Resolution{Targets: &attach.Targets{Snapshot: x.in}}}}
	return s.NotFoundError(hint, "--delete: no %s %q %s", d.kindNoun(), d.name, where)
}
