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

// deletedName is an object to delete, as it was typed: KIND/NAME or KIND/NAMESPACE/NAME.
type deletedName struct{ kind, namespace, name string }

func parseDeletedName(text string) (deletedName, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return deletedName{}, failure.Usage("write KIND/NAME or KIND/NAMESPACE/NAME, for example authpolicy/gw-auth",
			"--delete %q is not the name of an object", text)
	}
	d := deletedName{kind: parts[0], name: parts[len(parts)-1]}
	if len(parts) == 3 {
		d.namespace = parts[1]
	}
	return d, nil
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

// listObjects returns the objects of some kinds in a namespace, "" for all. A Namespace is there if
// something is in it.
func (x *kindIndex) listObjects(kinds []model.GroupKind, namespace string) []model.Ref {
	var out []model.Ref
	for _, o := range x.in.Objects {
		if o.Ref.Namespace != "" && slices.ContainsFunc(kinds, isNamespace) {
			out = append(out, model.Ref{Kind: "Namespace", Name: o.Ref.Namespace})
		}
		if slices.Contains(kinds, o.Ref.GroupKind()) && (namespace == "" || o.Ref.Namespace == namespace ||
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
	d, err := parseDeletedName(text)
	if err != nil {
		return model.Ref{}, err
	}
	kinds := x.findKinds(d.kind)
	if len(kinds) == 0 {
		hint := "write KIND/NAME, for example authpolicy/gw-auth"
		if near := form.Nearest(d.kind, x.listKindWords()); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return model.Ref{}, failure.Usage(hint, "--delete: unknown kind %q", d.kind)
	}
	namespace := d.namespace
	if namespace == "" && !r.Flags.Source.AllNamespaces {
		namespace = r.Flags.givenNamespace
	}
	var found []model.Ref
	for _, ref := range x.listObjects(kinds, namespace) {
		if ref.Name == d.name {
			found = append(found, ref)
		}
	}
	switch len(found) {
	case 0:
		return model.Ref{}, r.deletedNotFound(x, kinds, d, namespace)
	case 1:
		return found[0], nil
	}
	return model.Ref{}, failure.Usage("name one of: "+formatDeleteNames(found),
		"--delete: %q is ambiguous: %d objects have this name", text, len(found))
}

// deletedNotFound is the error for an object that is not in the input.
func (r *Reader) deletedNotFound(x *kindIndex, kinds []model.GroupKind, d deletedName, namespace string) error {
	all := x.listObjects(kinds, "")
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
	hint := "there is no " + d.kind + " at all"
	near := form.Nearest(d.name, names)
	switch {
	case len(elsewhere) > 0:
		hint = "there is " + formatDeleteNames(elsewhere)
	case len(near) > 0:
		hint = "did you mean " + formatDeleteName(here[slices.Index(names, near[0])]) + "?"
	case len(here) > 0:
		hint = "there are: " + formatDeleteNames(here)
	case len(all) > 0:
		hint = "there are: " + formatDeleteNames(all)
	}
	where := "on the second side"
	if namespace != "" {
		where = "in namespace " + namespace + " on the second side"
	}
	s := &source.Session{Streams: r.Streams,
		Input: &dopolicy.Input{Resolution: &resolve.Resolution{Targets: &attach.Targets{Snapshot: x.in}}}}
	return s.NotFoundError(hint, "--delete: no %s %q %s", strings.ToLower(kinds[0].Kind), d.name, where)
}

// formatDeleteName writes an object as --delete takes it.
func formatDeleteName(ref model.Ref) string { return source.LowerKind(ref) + "/" + ref.FullName() }

func formatDeleteNames(refs []model.Ref) string {
	var out []string
	for _, ref := range refs {
		out = append(out, formatDeleteName(ref))
	}
	return strings.Join(source.LimitNames(out), ", ")
}
