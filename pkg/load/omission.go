package load

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/gitops"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// findOmissions returns what makes objects and was not read or rendered: what was left out on the
// way, documents that cannot be read, templates, objects that have others deployed, and those whose
// own name is not known. It counts objects of which none is used because there are several versions,
// too.
func (r *inputResult) findOmissions() []model.Omission {
	out := slices.Clone(r.omissions)
	var objects []*model.Object
	for _, result := range r.outcomes {
		objects = append(objects, result.Objects...)
		out = append(out, result.Omissions...)
		for _, pending := range result.Problems {
			p := pending.ToProblem()
			if p.Ref == nil && p.Severity == model.Error && p.Origin != nil && p.Origin.Cluster == "" &&
				(p.Code == model.InvalidYAML || p.Code == model.LimitExceeded) {
				out = append(out, model.Omission{By: p.Origin.String(), Why: "cannot be read"})
			}
		}
	}
	for _, o := range objects {
		switch {
		case o.Origin.Cluster != "":
		case o.Ref.HasVariable():
			out = append(out, unnamedOmission(o))
		default:
			if found := gitops.FindOmission(o, r.followed); found != nil {
				out = append(out, *found)
			}
		}
	}
	return mergeOmissions(out)
}

// unnamedOmission returns that an object may be any of its kind, as a variable in its name or
// namespace is not known.
func unnamedOmission(o *model.Object) model.Omission {
	out := model.Omission{By: o.Ref.String(), Why: "has a name with a variable that is not known",
		Namespace: o.Ref.Namespace, Kinds: []model.GroupKind{o.Ref.GroupKind()}}
	if model.HasVariable(out.Namespace) {
		out.Namespace, out.Why = "", "has a namespace with a variable that is not known"
	}
	return out
}

// mergeOmissions returns the omissions of all lists, sorted, each once: the first reason that is
// given for one stands.
func mergeOmissions(lists ...[]model.Omission) []model.Omission {
	compare := func(a, b model.Omission) int {
		return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(fmt.Sprint(a.Kinds), fmt.Sprint(b.Kinds)))
	}
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b model.Omission) bool { return compare(a, b) == 0 })
}

// addUnbuilt notes the kustomization or chart that a document describes where its manifests are
// read as they stand. A kustomization that makes nothing but what its files say leaves nothing out.
func addUnbuilt(r *input.Reader, p document.Raw, limits document.Limits) {
	name := path.Base(p.File.Name)
	folder := path.Dir(p.File.Name)
	switch {
	case name == "Chart.yaml":
		r.AddOmission("chart "+folder, "is not rendered", "")
	case input.IsKustomization(name):
		docs, failed := document.ParseManifests(p.Text, limits)
		if failed != nil || len(docs) == 0 {
			r.AddOmission("kustomization "+folder, "is not built", "")
			return
		}
		if makesMore(docs[0].Value) {
			r.AddOmission("kustomization "+folder, "is not built", model.Text(docs[0].Value, "namespace"))
		}
	}
}

// makesMore reports whether a kustomization makes objects that are not in files of its own folder.
func makesMore(v any) bool {
	for _, field := range []string{"bases", "components", "configMapGenerator", "generators", "helmCharts",
		"helmChartInflationGenerator", "namePrefix", "nameSuffix", "namespace", "replacements", "secretGenerator",
		"transformers"} {
		if model.Get(v, field) != nil {
			return true
		}
	}
	return slices.ContainsFunc(model.Texts(v, "resources"), func(at string) bool {
		at = strings.TrimPrefix(at, "./")
		return !input.IsManifest(at) || strings.Contains(at, "/")
	})
}
