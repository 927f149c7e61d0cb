package cluster

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

// refusedKind is what became of a kind whose objects may not be listed in all namespaces.
type refusedKind struct {
	kind  *model.ServedKind
	tried map[string]bool // namespaces, and "" for all of them: whether they could be read
}

// triedNamespaces returns those that could be read instead of all, or those that could not, sorted.
func (f *refusedKind) triedNamespaces(read bool) []string {
	var out []string
	for ns, could := range f.tried {
		if ns != "" && could == read {
			out = append(out, ns)
		}
	}
	slices.Sort(out)
	return out
}

// addRefusal notes that a list is forbidden.
func (r *reader) addRefusal(k *model.ServedKind, namespace string) {
	f := r.refusals[k.GroupKind]
	if f == nil {
		f = &refusedKind{kind: k, tried: map[string]bool{}}
		r.refusals[k.GroupKind] = f
	}
	f.tried[namespace] = false
}

// maxNamespaces is up to how many namespaces are tried one by one where lists of all are forbidden.
// Beyond, only those that the question is about, and those that objects name, are.
const maxNamespaces = 200

// readSingleNamespaces reads in single namespaces what may not be listed everywhere: in those that
// the question is about, those that objects name which were read, and all if they are known and not
// too many.
func (r *reader) readSingleNamespaces(ctx context.Context) error {
	for len(r.refusals) > 0 {
		var jobs []listJob
		namespaces := r.namespacesToTry()
		for _, f := range r.sortedRefusedKinds() {
			for _, ns := range namespaces {
				_, tried := f.tried[ns]
				switch {
				case tried:
				case f.kind.Namespaced:
					jobs = append(jobs, listJob{kind: f.kind, namespace: ns})
				case f.kind.Group == "" && f.kind.Kind == namespaceKind:
					jobs = append(jobs, listJob{kind: f.kind, name: ns})
				}
			}
		}
		if len(jobs) == 0 {
			return nil
		}
		if err := r.tryEachNamespace(ctx, jobs); err != nil {
			return err
		}
	}
	return nil
}

// tryEachNamespace notes for each list of a single namespace whether it could be read.
func (r *reader) tryEachNamespace(ctx context.Context, jobs []listJob) error {
	for _, j := range jobs {
		r.refusals[j.kind.GroupKind].tried[cmp.Or(j.namespace, j.name)] = true
	}
	return r.readLists(ctx, jobs, func(j listJob) { r.addRefusal(j.kind, cmp.Or(j.namespace, j.name)) })
}

// namespacesToTry returns the namespaces to try, sorted.
func (r *reader) namespacesToTry() []string {
	found := map[string]bool{}
	var all []string
	for _, ns := range r.options.Namespaces {
		found[ns] = true
	}
	for _, out := range r.results {
		for _, o := range out.Objects {
			if o.Ref.Group == "" && o.Ref.Kind == namespaceKind {
				all = append(all, o.Ref.Name)
			}
			if o.Ref.Namespace != "" {
				found[o.Ref.Namespace] = true
			}
			collectNamespaces(o.Body.At("spec"), found)
		}
	}
	if len(all) <= maxNamespaces {
		for _, ns := range all {
			found[ns] = true
		}
	}
	// What objects say may be anything, and becomes part of a request's path.
	maps.DeleteFunc(found, func(ns string, _ bool) bool { return len(validation.IsDNS1123Label(ns)) > 0 })
	return slices.Sorted(maps.Keys(found))
}

// collectNamespaces adds the namespaces of all references within v: maps with a name and a
// namespace.
func collectNamespaces(v model.Body, to map[string]bool) {
	if ns := v.Field("namespace").Text(); ns != "" {
		to[ns] = true
	}
	for _, inner := range v.Fields {
		collectNamespaces(inner, to)
	}
	for _, inner := range v.Items {
		collectNamespaces(inner, to)
	}
}

func (r *reader) sortedRefusedKinds() []*refusedKind {
	return slices.SortedFunc(maps.Values(r.refusals),
		func(a, b *refusedKind) int { return a.kind.GroupKind.Compare(b.kind.GroupKind) })
}

// unreadObjects returns what could not be read.
func (r *reader) unreadObjects() []model.UnreadObjects {
	var out []model.UnreadObjects
	for _, f := range r.sortedRefusedKinds() {
		if f.kind.GroupKind != model.DefinitionKind() {
			out = append(out, model.UnreadObjects{Kind: f.kind.GroupKind, Except: f.triedNamespaces(true)})
		}
	}
	return out
}

// readingProblems returns those of the reading itself: a Forbidden one for every kind and namespace
// that matters and may not be listed.
func (r *reader) readingProblems() []model.Problem {
	out := slices.Clone(r.otherProblems)
	for _, f := range r.sortedRefusedKinds() {
		if f.kind.GroupKind == model.DefinitionKind() {
			out = append(out, r.missingDefinitionProblems()...)
			continue
		}
		problems := f.toProblems()
		if slices.Contains(r.options.SideKinds, f.kind.GroupKind) {
			for i := range problems {
				problems[i].Severity, problems[i].Code = model.Info, model.NotEvaluated
			}
		}
		out = append(out, problems...)
	}
	return out
}

// RightsHint says how to print the rights that are missing.
const RightsHint = "--print-rbac prints the role"

// missingDefinitionProblems says what is not known because definitions may not be listed: which
// kinds without a descriptor are policies, and how objects are read that their definition decides
// about.
func (r *reader) missingDefinitionProblems() []model.Problem {
	var out []model.Problem
	report := func(what, otherwise string) {
		ref := model.Ref{Group: model.DefinitionKind().Group, Kind: model.DefinitionKind().Kind, Name: "*"}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Ref: &ref,
			Message: "cannot list customresourcedefinitions.apiextensions.k8s.io (forbidden): " + what,
			Hint: "ask for: list on customresourcedefinitions.apiextensions.k8s.io (" + RightsHint + "), or " +
				otherwise})
	}
	if r.hasUnknownKinds() {
		report("of the kinds without a descriptor, only those called …Policy are taken for policies",
			"describe the kinds with --policy-kinds")
	}
	if kinds := r.undecidedNames(); len(kinds) > 0 {
		report("cannot tell how to read "+strings.Join(kinds, ", "), "say how with --vendor-setting")
	}
	return out
}

// undecidedNames returns the kinds whose definition decides how they are read and of which there
// are objects, or may be.
func (r *reader) undecidedNames() []string {
	found := map[model.GroupKind]bool{}
	for _, out := range r.results {
		for _, o := range out.Objects {
			found[o.Ref.GroupKind()] = true
		}
	}
	var names []string
	for _, gk := range r.options.UndecidedKinds {
		if found[gk] || r.refusals[gk] != nil {
			names = append(names, gk.String())
		}
	}
	return names
}

func (f *refusedKind) toProblems() []model.Problem {
	name := f.kind.Resource()
	problem := func(namespace, where string) model.Problem {
		ref := model.Ref{Group: f.kind.Group, Kind: f.kind.Kind, Namespace: namespace, Name: "*"}
		return model.Problem{Severity: model.Warning, Code: model.Forbidden, Ref: &ref,
			Message: fmt.Sprintf("cannot list %s%s (forbidden)", name, where),
			Hint:    fmt.Sprintf("ask for: list on %s%s (%s)", name, where, RightsHint)}
	}
	if !f.kind.Namespaced {
		where := ""
		if read := f.triedNamespaces(true); len(read) > 0 {
			where = " but " + strings.Join(read, ", ")
		}
		p := problem("", where)
		p.Hint = fmt.Sprintf("ask for: list on %s (%s)", name, RightsHint)
		return []model.Problem{p}
	}
	var out []model.Problem
	for _, ns := range f.triedNamespaces(false) {
		out = append(out, problem(ns, " in namespace "+ns))
	}
	if out == nil {
		p := problem("", " in all namespaces")
		p.Message += "; read in: " + strings.Join(f.triedNamespaces(true), ", ")
		return []model.Problem{p}
	}
	return out
}
