package load

import (
	"strconv"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// missingPart is something that a build goes without: what it would add is missing, and the rest
// stands.
type missingPart struct {
	kustomization kustomizationName
	origin        model.Origin
	why, hint     string
	refusal       error // why the build fails, if it does not do without
}

// kustomizationName is the folder of a kustomization, as the user would type it.
type kustomizationName string

func (k kustomizationName) String() string { return "kustomization " + string(k) }

// addMissingPart notes that a build goes without e.
func (w *kustomizationWalk) addMissingPart(e entry, why, hint string, refusal error) {
	w.missingParts = append(w.missingParts, missingPart{kustomization: kustomizationName(e.kustomization.name), origin: e.origin, why: why, hint: hint, refusal: refusal})
}

// removeMissingParts takes out of a kustomization the objects that would have to be fetched, and
// the charts that are not rendered. Everything else that is remote changes objects, and is refused
// later.
func (w *kustomizationWalk) removeMissingParts(k *kustomization) error {
	if !w.allowMissing || k.pluginsOf != nil {
		return nil
	}
	before := len(w.missingParts)
	local := func(field string, list []string) []string {
		var kept []string
		for i, text := range list {
			if !isRemote(text) {
				kept = append(kept, text)
				continue
			}
			e := entry{role: asObjects, kustomization: k, origin: model.Origin{File: k.file.name, Line: k.doc.lineOf(field, strconv.Itoa(i))}, field: field, text: text}
			w.addMissingPart(e, "objects are remote, and nothing is fetched", "download it and name the copy; if it is a path, write ./ in front", e.newRemoteRefusal(text))
		}
		return kept
	}
	k.Resources = local("resources", k.Resources)
	//lint:ignore SA1019 it is still built
	k.Bases = local("bases", k.Bases)
	if w.charts == nil && len(k.HelmCharts) > 0 {
		e := entry{role: asChart, kustomization: k, origin: model.Origin{File: k.file.name, Line: k.doc.lineOf("helmCharts")}, field: "helmCharts"}
		w.addMissingPart(e, notEnabled, helmHint, e.newChartRefusal())
		k.HelmCharts, k.HelmGlobals = nil, nil
	}
	if len(w.missingParts) == before {
		return nil
	}
	if k.CheckEmpty() != nil { // which is an error
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations)
	}
	return w.overrideKustomization(k, k.Kustomization)
}
