package load

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// refusal is what became of a kind whose objects may not be listed in all namespaces.
type refusal struct {
	kind  *model.ServedKind
	tried map[string]bool // namespaces, and "" for all of them: whether they could be read
}

// namespaces are those that could be read instead of all, or those that could not, sorted.
func (f *refusal) namespaces(read bool) []string {
	var out []string
	for ns, could := range f.tried {
		if ns != "" && could == read {
			out = append(out, ns)
		}
	}
	slices.Sort(out)
	return out
}

// refuse notes that a list is forbidden.
func (r *liveReader) refuse(k *model.ServedKind, namespace string) {
	f := r.forbidden[k.GroupKind]
	if f == nil {
		f = &refusal{kind: k, tried: map[string]bool{}}
		r.forbidden[k.GroupKind] = f
	}
	f.tried[namespace] = false
}

// mostNamespaces is up to how many namespaces are tried one by one where lists of all are forbidden. Beyond, only those that the question is
// about, and those that objects name, are.
const mostNamespaces = 200

// nearby reads what may not be listed everywhere in single namespaces: those that the question is about, those that objects name
// which were read, and all if they are known and not too many.
func (r *liveReader) nearby(ctx context.Context) error {
	for len(r.forbidden) > 0 {
		var jobs []job
		namespaces := r.namespaces()
		for _, f := range r.sortedRefusals() {
			for _, ns := range namespaces {
				_, tried := f.tried[ns]
				switch {
				case tried:
				case f.kind.Namespaced:
					jobs = append(jobs, job{kind: f.kind, namespace: ns})
				case f.kind.Group == "" && f.kind.Kind == namespaceKind:
					jobs = append(jobs, job{kind: f.kind, name: ns})
				}
			}
		}
		if len(jobs) == 0 {
			return nil
		}
		if err := r.tryEach(ctx, jobs); err != nil {
			return err
		}
	}
	return nil
}

// tryEach notes for each list of a single namespace whether it could be read.
func (r *liveReader) tryEach(ctx context.Context, jobs []job) error {
	for _, j := range jobs {
		r.forbidden[j.kind.GroupKind].tried[cmp.Or(j.namespace, j.name)] = true
	}
	return r.all(ctx, jobs, func(j job) { r.refuse(j.kind, cmp.Or(j.namespace, j.name)) })
}

// namespaces are those to try, sorted.
func (r *liveReader) namespaces() []string {
	found := map[string]bool{}
	var all []string
	for _, ns := range r.o.Home {
		found[ns] = true
	}
	for _, out := range r.outcomes {
		for _, o := range out.objects {
			if o.Ref.Group == "" && o.Ref.Kind == namespaceKind {
				all = append(all, o.Ref.Name)
			}
			if o.Ref.Namespace != "" {
				found[o.Ref.Namespace] = true
			}
			namedNamespaces(o.Body.At("spec"), found)
		}
	}
	if len(all) <= mostNamespaces {
		for _, ns := range all {
			found[ns] = true
		}
	}
	// What objects say may be anything, and becomes part of a request's path.
	maps.DeleteFunc(found, func(ns string, _ bool) bool { return len(validation.IsDNS1123Label(ns)) > 0 })
	return slices.Sorted(maps.Keys(found))
}

// namedNamespaces adds the namespaces of all references within v: maps with a name and a namespace.
func namedNamespaces(v model.Body, to map[string]bool) {
	if ns := v.Field("namespace").Text(); ns != "" {
		to[ns] = true
	}
	for _, inner := range v.Fields {
		namedNamespaces(inner, to)
	}
	for _, inner := range v.Items {
		namedNamespaces(inner, to)
	}
}

func (r *liveReader) sortedRefusals() []*refusal {
	return slices.SortedFunc(maps.Values(r.forbidden), func(a, b *refusal) int { return a.kind.GroupKind.Compare(b.kind.GroupKind) })
}

// gaps are what could not be read.
func (r *liveReader) gaps() []model.Gap {
	var out []model.Gap
	for _, f := range r.sortedRefusals() {
		if f.kind.GroupKind != model.DefinitionKind() {
			out = append(out, model.Gap{Kind: f.kind.GroupKind, Except: f.namespaces(true)})
		}
	}
	return out
}

// problems are those of the reading itself: a Forbidden one for every kind and namespace that matters and may not be listed.
func (r *liveReader) problems() []model.Problem {
	out := slices.Clone(r.failed)
	for _, f := range r.sortedRefusals() {
		if f.kind.GroupKind == model.DefinitionKind() {
			out = append(out, r.withoutDefinitions()...)
			continue
		}
		out = append(out, f.problems()...)
	}
	return out
}

// withoutDefinitions says what is not known because definitions may not be listed: which kinds without a descriptor are policies, and how
// objects are read that their definition decides about.
func (r *liveReader) withoutDefinitions() []model.Problem {
	var out []model.Problem
	report := func(what, otherwise string) {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "cannot list customresourcedefinitions.apiextensions.k8s.io (forbidden): " + what,
			Hint:    "ask for: list on customresourcedefinitions.apiextensions.k8s.io (docs/rbac.yaml), or " + otherwise})
	}
	if r.otherKinds() {
		report("of the kinds without a descriptor, only those called …Policy are taken for policies", "describe the kinds with --policy-kinds")
	}
	if kinds := r.undecidedNames(); len(kinds) > 0 {
		report("how their definitions want them read is not known of "+strings.Join(kinds, ", "), "say how with --vendor-setting")
	}
	return out
}

// undecidedNames are the kinds whose definition decides how they are read and of which there are objects, or may be.
func (r *liveReader) undecidedNames() []string {
	found := map[model.GroupKind]bool{}
	for _, out := range r.outcomes {
		for _, o := range out.objects {
			found[o.Ref.GroupKind()] = true
		}
	}
	var names []string
	for _, gk := range r.o.Undecided {
		if found[gk] || r.forbidden[gk] != nil {
			names = append(names, gk.String())
		}
	}
	return names
}

func (f *refusal) problems() []model.Problem {
	name := f.kind.Resource()
	problem := func(namespace, where string) model.Problem {
		ref := model.Ref{Group: f.kind.Group, Kind: f.kind.Kind, Namespace: namespace, Name: "*"}
		return model.Problem{Severity: model.Warning, Code: model.Forbidden, Ref: &ref,
			Message: fmt.Sprintf("cannot list %s%s (forbidden)", name, where),
			Hint:    fmt.Sprintf("ask for: list on %s%s (docs/rbac.yaml)", name, where)}
	}
	if !f.kind.Namespaced {
		where := ""
		if read := f.namespaces(true); len(read) > 0 {
			where = " but " + strings.Join(read, ", ")
		}
		p := problem("", where)
		p.Hint = fmt.Sprintf("ask for: list on %s (docs/rbac.yaml)", name)
		return []model.Problem{p}
	}
	var out []model.Problem
	for _, ns := range f.namespaces(false) {
		out = append(out, problem(ns, " in namespace "+ns))
	}
	if out == nil {
		p := problem("", " in all namespaces")
		p.Message += "; read in: " + strings.Join(f.namespaces(true), ", ")
		return []model.Problem{p}
	}
	return out
}
