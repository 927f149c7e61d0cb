package load

import (
	"strconv"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// lack is something that a build goes without: what it would add is missing, and the rest stands.
type lack struct {
	of        kustomized
	at        model.Origin
	why, hint string
	refusal   error // why the build fails, if it does not do without
}

// kustomized is the folder of a kustomization, as the user would type it.
type kustomized string

func (k kustomized) String() string { return "kustomization " + string(k) }

// lacking notes that a build goes without e.
func (w *walk) lacking(e entry, why, hint string, refusal error) {
	w.lacks = append(w.lacks, lack{of: kustomized(e.in.name), at: e.at, why: why, hint: hint, refusal: refusal})
}

// lighten takes out of a kustomization the objects that would have to be fetched, and the charts that are not rendered. Everything else that is
// remote changes objects, and is refused later.
func (w *walk) lighten(k *kustomization) error {
	if !w.without || k.plugins != nil {
		return nil
	}
	before := len(w.lacks)
	local := func(field string, list []string) []string {
		var kept []string
		for i, text := range list {
			if !remote(text) {
				kept = append(kept, text)
				continue
			}
			e := entry{role: asObjects, in: k, at: model.Origin{File: k.file.name, Line: k.doc.lineOf(field, strconv.Itoa(i))}, field: field, text: text}
			w.lacking(e, "objects are remote, and nothing is fetched", "download it and name the copy; if it is a path, write ./ in front", e.remote(text))
		}
		return kept
	}
	k.Resources = local("resources", k.Resources)
	//lint:ignore SA1019 it is still built
	k.Bases = local("bases", k.Bases)
	if w.charts == nil && len(k.HelmCharts) > 0 {
		e := entry{role: asChart, in: k, at: model.Origin{File: k.file.name, Line: k.doc.lineOf("helmCharts")}, field: "helmCharts"}
		w.lacking(e, notAsked, helmHint, e.uninflated())
		k.HelmCharts, k.HelmGlobals = nil, nil
	}
	if len(w.lacks) == before {
		return nil
	}
	if k.CheckEmpty() != nil { // which is an error
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations)
	}
	return w.rewrite(k, k.Kustomization)
}

// went tells what a build went without.
func (r *omissions) went(lacks []lack) {
	for _, l := range lacks {
		r.add(omission{kind: "kustomization", why: l.why, hint: l.hint, at: l.at, part: true}, l.of)
	}
}
