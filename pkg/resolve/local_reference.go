package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// reportLocalReferences reports references without a namespace that lead nowhere, while an object of that
// kind and name is in another namespace: such a reference means an object beside its own.
func (r *Resolution) reportLocalReferences() {
	f := localReferenceFinder{res: r, byName: map[string][]model.Ref{}, kinds: map[string][]model.GroupKind{},
		reported: map[[2]model.Ref]int{}}
	if !f.indexObjects() {
		return
	}
	for i := range r.Problems {
		if p := &r.Problems[i]; p.Ref != nil && p.MissingRef != nil {
			f.reported[[2]model.Ref{*p.Ref, p.MissingRef.WithoutSection()}] = i
		}
	}
	seen := map[*model.Object]bool{}
	check := func(o *model.Object) {
		if o != nil && !seen[o] && o.Ref.Namespace != "" {
			seen[o] = true
			f.checkObject(o)
		}
	}
	for id := range topology.NodeID(r.Graph.Len()) {
		switch n := r.Graph.Node(id); n.Role {
		case topology.Gateway, topology.ListenerSet, topology.Route:
			check(n.Object)
		}
	}
	for _, k := range r.Kinds {
		for _, p := range k.Policies {
			if !p.Kind.Virtual {
				check(p.Object)
			}
		}
	}
}

// localReferenceFinder looks for such references.
type localReferenceFinder struct {
	res      *Resolution
	byName   map[string][]model.Ref       // the objects with a namespace, by kind and name
	kinds    map[string][]model.GroupKind // of these objects, by their name in lower case
	reported map[[2]model.Ref]int         // problems about what an object names and is not there
}

// indexObjects indexes the objects of the input; false: they are all in one namespace.
func (f *localReferenceFinder) indexObjects() bool {
	namespaces := map[string]bool{}
	for _, o := range f.res.Snapshot.Objects {
		if o.Ref.Namespace == "" {
			continue
		}
		namespaces[o.Ref.Namespace] = true
		key := nameKey(o.Ref.GroupKind(), o.Ref.Name)
		f.byName[key] = append(f.byName[key], o.Ref)
		kind := strings.ToLower(o.Ref.Kind)
		if !slices.Contains(f.kinds[kind], o.Ref.GroupKind()) {
			f.kinds[kind] = append(f.kinds[kind], o.Ref.GroupKind())
		}
	}
	return len(namespaces) > 1
}

func nameKey(gk model.GroupKind, name string) string { return gk.String() + "/" + name }

// checkObject checks the references in an object.
func (f *localReferenceFinder) checkObject(o *model.Object) {
	o.Body.Walk(nil, func(key string, v model.Body, at []string) bool {
		switch {
		case len(at) == 1 && (key == "metadata" || key == "status"), key == "targetRef", key == "targetRefs":
			return false
		case !strings.HasSuffix(strings.TrimSuffix(key, "s"), "Ref"):
			return true
		case v.IsObject():
			f.checkReference(o, key, v, at)
		case v.IsList():
			for i, entry := range v.Items {
				if entry.IsObject() {
					f.checkReference(o, key, entry, append(slices.Clone(at), fmt.Sprint(i)))
				}
			}
		}
		return true
	})
}

// checkReference reports a reference that leads nowhere, if what it names is in another namespace.
func (f *localReferenceFinder) checkReference(o *model.Object, field string, ref model.Body, at []string) {
	name := ref.Text("name")
	gk, ok := f.kindOf(ref, field)
	if name == "" || ref.Text("namespace") != "" || !ok {
		return
	}
	var elsewhere []model.Ref
	for _, one := range f.byName[nameKey(gk, name)] {
		if one.Namespace == o.Ref.Namespace {
			return
		}
		elsewhere = append(elsewhere, one)
	}
	if elsewhere == nil {
		return
	}
	to := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Ref.Namespace, Name: name}
	e := f.res.Snapshot.FindExistence(to)
	if e.Presence == model.Present {
		return
	}
	hint := fmt.Sprintf("there is %s, in another namespace, which a reference without namespace cannot mean", elsewhere[0])
	if i, known := f.reported[[2]model.Ref{o.Ref, to}]; known {
		f.res.Problems[i].Hint = hint
		return
	}
	severity := model.Warning
	if e.Presence == model.NotKnown || e.Presence == model.NotShown && gk.Group == "" {
		severity = model.Info // it is often made by something else
	}
	f.res.Problems = append(f.res.Problems, model.Problem{Severity: severity, Code: model.ReferenceNotFound, Hint: hint,
		MissingRef: &to, SuggestedRef: &elsewhere[0],
		Message: fmt.Sprintf("%s names %s, which is not in the input", model.FormatFieldPath(at), to)}.At(o, at...))
}

// kindOf returns the kind that a reference means: the one that it names, else the one of the input that its
// field is called after.
func (f *localReferenceFinder) kindOf(ref model.Body, field string) (model.GroupKind, bool) {
	if kind := ref.Text("kind"); kind != "" {
		group, _, _ := strings.Cut(ref.Text("group"), "/")
		if group == "core" {
			group = ""
		}
		return model.GroupKind{Group: group, Kind: kind}, true
	}
	stem := reference.KindOfField(field)
	if stem == "certificate" || stem == "clientcertificate" {
		stem = "secret"
	}
	if all := f.kinds[stem]; len(all) == 1 {
		return all[0], true
	}
	return model.GroupKind{}, false
}
