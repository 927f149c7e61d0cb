package kustomize

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// MissingPart is something that a build goes without: what it would add is missing, and the rest
// stands.
type MissingPart struct {
	Kustomization kustomizationName
	Origin        model.Origin
	Why, Hint     string
	Namespace     string            // of what it would make; "": any, as it is not known
	Kinds         []model.GroupKind // of what it would make; nil: any
	ChangesOnly   bool              // it would make nothing, and change what there is
	IsObject      bool              // it is one object that was built, and cannot be finished
	IsNotBuilt    bool              // it is all of the kustomization
	IsRefused     bool              // it is there, and kustomize refuses the whole build for it
	IsTemplate    bool              // it is a template, and kustomize refuses it as it is not rendered
	refusal       error             // why the build fails, if it does not do without
}

// kustomizationName is the folder of a kustomization, as the user would type it.
type kustomizationName string

func (k kustomizationName) String() string { return "kustomization " + string(k) }

// addMissingPart notes that a build goes without e.
func (w *Walk) addMissingPart(e entry, why, hint string, refusal error) {
	w.missingParts = append(w.missingParts, MissingPart{Kustomization: kustomizationName(e.kustomization.Name),
		Origin: e.origin, Why: why, Hint: hint, Namespace: e.kustomization.targetNamespace(), refusal: refusal})
}

// addLostObject notes that an object that was built has no text.
func (w *Walk) addLostObject(root *Kustomization, o builtObject, at model.Origin) {
	ref := model.Ref{Group: o.kind.Group, Kind: o.kind.Kind, Namespace: o.namespace, Name: o.name}
	w.missingParts = append(w.missingParts, MissingPart{Kustomization: kustomizationName(root.Name), Origin: at,
		Why: ref.String() + " is not read: " + o.failed.Error(), Namespace: o.namespace, IsObject: true})
}

// addMissingChart notes that a build goes without a chart.
func (w *Walk) addMissingChart(e entry, c types.HelmChart, why, hint string, refusal error) {
	w.addMissingPart(e, why, hint, refusal)
	last := &w.missingParts[len(w.missingParts)-1]
	last.Namespace = cmp.Or(last.Namespace, c.Namespace)
}

// targetNamespace returns the namespace that what k makes is put into; "" where it stays in its
// own.
func (k *Kustomization) targetNamespace() string {
	namespace := k.Namespace
	for up := k.parent; up != nil; up = up.parent {
		namespace = cmp.Or(up.Namespace, namespace)
	}
	return namespace
}

// removeMissingParts takes out of a kustomization the objects and components that would have to be
// fetched, the programs that would be run, and the charts that are not rendered. Everything else
// that is remote is refused later.
func (w *Walk) removeMissingParts(ctx context.Context, k *Kustomization) error {
	if !w.allowMissing || k.pluginsOf != nil {
		return nil
	}
	before := len(w.missingParts)
	generators, err := w.removePrograms(ctx, k, "generators", k.Generators)
	if err != nil {
		return err
	}
	validators, err := w.removePrograms(ctx, k, "validators", k.Validators)
	if err != nil {
		return err
	}
	transformers, err := w.removePrograms(ctx, k, "transformers", k.Transformers)
	if err != nil {
		return err
	}
	isChanged := len(generators) < len(k.Generators) || len(validators) < len(k.Validators)
	k.Generators, k.Validators, k.Transformers = generators, validators, transformers
	local := func(field, why string, list []string) []string {
		kept := list[:0:0] // a list that is written and empty stays one
		for i, text := range list {
			if !isRemote(text) {
				kept = append(kept, text)
				continue
			}
			e := entry{role: asObjects, kustomization: k, origin: model.Origin{File: k.file.Name,
				Line: k.doc.LineOf(field, strconv.Itoa(i))}, field: field, text: text}
			w.addMissingPart(e, why,
				"download it and name the copy; if it is a path, write ./ in front", e.newRemoteRefusal(text))
		}
		return kept
	}
	k.Resources = local("resources", remoteObjects, k.Resources)
	//lint:ignore SA1019 it is still built
	k.Bases = local("bases", remoteObjects, k.Bases)
	k.Components = local("components", "a component is remote, and nothing is fetched", k.Components)
	if w.charts == nil && len(k.HelmCharts) > 0 {
		e := entry{role: asChart, kustomization: k, origin: model.Origin{File: k.file.Name,
			Line: k.doc.LineOf("helmCharts")}, field: "helmCharts"}
		for _, c := range k.HelmCharts {
			w.addMissingChart(e, c, helm.NotEnabled, helm.EnableHint, e.newChartRefusal())
		}
		k.HelmCharts, k.HelmGlobals = nil, nil
	}
	if w.charts == nil && len(k.HelmChartInflationGenerator) > 0 {
		e := entry{role: asChart, kustomization: k, origin: model.Origin{File: k.file.Name,
			Line: k.doc.LineOf("helmChartInflationGenerator")}, field: "helmChartInflationGenerator"}
		w.addMissingPart(e, helm.NotEnabled, helm.EnableHint, e.newChartRefusal())
		k.HelmChartInflationGenerator = nil
	}
	if len(w.missingParts) == before && !isChanged {
		return nil
	}
	if k.CheckEmpty() != nil { // which is an error
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations)
	}
	return w.overrideKustomization(k, k.Kustomization)
}

const remoteObjects = "objects are remote, and nothing is fetched"

// removePrograms returns the generators, transformers or validators that are built into the
// library: programs are not run. Validators that are not run change nothing.
func (w *Walk) removePrograms(ctx context.Context, k *Kustomization, field string, list []string) ([]string, error) {
	kept := list[:0:0]
	for i, text := range list {
		e := entry{role: asPlugin, kustomization: k, origin: model.Origin{File: k.file.Name,
			Line: k.doc.LineOf(field, strconv.Itoa(i))}, field: field, text: text}
		err := w.followEntry(ctx, e)
		var program *notDoneError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.As(err, &program): // what else is wrong is said where it is built
			kept = append(kept, text)
		case field != "validators":
			w.addMissingPart(e, "a "+strings.TrimSuffix(field, "s")+" is not run: "+program.why, BuildHint, err)
			if field == "generators" {
				w.missingParts[len(w.missingParts)-1].Kinds = program.kinds
			}
		}
	}
	return kept, nil
}
