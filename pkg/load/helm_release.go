package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const chartNotFound = "the chart is not in the input"

// renderHelmRelease renders the chart of a HelmRelease, if it is in the input.
func (r *renderer) renderHelmRelease(ctx context.Context, l *gitopsSource) error {
	if l.isRemote() && r.chosen == "" {
		r.addOmitted(l, otherCluster, destinationHint)
		return nil
	}
	if len(l.sourcePaths()) == 0 || !r.repositories.isLocal(l.sourceRepositories()[0]) {
		r.addOmitted(l, chartNotFound, "render it, and read the result too: helm template CHART -f VALUES")
		return nil
	}
	dir, from, there := r.locateFolder(l.sourcePaths()[0])
	if !there || !r.walk.fileSystem.Exists(dir.Join("Chart.yaml")) {
		r.addOmitted(l, chartNotFound, "render it, and read the result too: helm template CHART -f VALUES")
		return nil
	}
	target := l.textAt("spec", "targetNamespace")
	what := chartInputs{dir: dir, release: l.textAt("spec", "releaseName"), includeCRDs: true}
	if what.release == "" {
		what.release = strings.TrimPrefix(target+"-"+l.name, "-")
	}
	if target == "" {
		target = l.namespace
	}
	if files := l.listAt("spec", "chart", "spec", "valuesFiles"); len(files) > 0 {
		what.withoutDefaults = true
		for _, file := range files {
			name, _ := file.(string)
			text, err := r.readValuesFile(ctx, from, from.dir, name)
			if err != nil {
				r.addOmitted(l, "of the values, "+err.Error(), "")
				return nil
			}
			what.values = append(what.values, text)
		}
	}
	for _, v := range l.listAt("spec", "valuesFrom") {
		if text := r.readValuesFrom(l, v); text != nil {
			what.values = append(what.values, text)
		}
	}
	what.values = appendValues(what.values, model.Get(l.value, "spec", "values"))
	if len(l.listAt("spec", "postRenderers")) > 0 {
		r.addPartlyOmitted(l, "post-renderers are not run", renderHint)
	}
	return r.addChart(ctx, l, from.displayName(dir.String()), target, what)
}

// readValuesFrom returns the values that a HelmRelease takes from a ConfigMap. If they are not
// known, it returns nil and reports that.
func (r *renderer) readValuesFrom(l *gitopsSource, v any) []byte {
	optional, _ := model.Get(v, "optional").(bool)
	name, key := model.Text(v, "name"), model.Text(v, "valuesKey")
	if key == "" {
		key = "values.yaml"
	}
	data := r.findConfigMap(l.namespace, name)
	text, there := data[key]
	switch {
	case model.Text(v, "kind") == "ConfigMap" && there && model.Text(v, "targetPath") == "":
		return []byte(text)
	case model.Text(v, "kind") == "ConfigMap" && !there && optional:
		return nil
	case model.Text(v, "kind") == "Secret" && optional && !r.hasSecret(l.namespace, name):
		r.addPartlyOmitted(l, "an optional Secret with values is not in the input, and counts as missing", renderHint)
		return nil
	}
	r.addPartlyOmitted(l, "values come from Secrets, from ConfigMaps that are not in the input, or are put at a path", renderHint)
	return nil
}

// appendValues adds values that are written in an object.
func appendValues(list [][]byte, v any) [][]byte {
	if v == nil {
		return list
	}
	text, err := json.Marshal(v)
	if err != nil {
		return list
	}
	return append(list, text)
}

// readValuesFile returns a file at a path that counts from a folder, inside the repository.
func (r *workspace) readValuesFile(ctx context.Context, within pathRoot, from filesys.ConfirmedDir, name string) ([]byte, error) {
	at := from.Join(filepath.FromSlash(name))
	if strings.HasPrefix(name, "/") {
		at = within.dir.Join(filepath.FromSlash(name))
	}
	dir, file, err := r.walk.fileSystem.CleanedAbs(at)
	switch {
	case err != nil || file == "":
		return nil, errors.New("there is no file " + name)
	case !dir.HasPrefix(within.dir):
		return nil, errors.New(name + " is outside of the repository")
	}
	return r.walk.readFile(ctx, fileLocation{dir: dir, file: file, name: within.displayName(dir.Join(file))})
}

// renderApplicationChart renders the chart of an Application.
func (r *renderer) renderApplicationChart(ctx context.Context, l *gitopsSource, s any, at buildRequest, from pathRoot) error {
	options := model.Get(s, "helm")
	if !r.walk.fileSystem.Exists(at.dir.Join("Chart.yaml")) {
		r.addOmitted(l, "the folder holds no chart", "")
		return nil
	}
	what := chartInputs{dir: at.dir, release: model.Text(options, "releaseName")}
	if what.release == "" {
		what.release = l.name
	}
	skip, _ := model.Get(options, "skipCrds").(bool)
	ignore, _ := model.Get(options, "ignoreMissingValueFiles").(bool)
	what.includeCRDs = !skip
	files, _ := model.Get(options, "valueFiles").([]any)
	for _, v := range files {
		name, _ := v.(string)
		base := at.dir
		if strings.HasPrefix(name, "$") { // a file of another source
			ref, rest, _ := strings.Cut(name[1:], "/")
			if !r.repositories.isLocalRef(l, ref) {
				r.addOmitted(l, "a file of values is in another repository", renderHint)
				return nil
			}
			name, base = rest, from.dir
		}
		text, err := r.readValuesFile(ctx, from, base, name)
		if err != nil && ignore {
			continue
		}
		if err != nil {
			r.addOmitted(l, "of the values, "+err.Error(), "")
			return nil
		}
		what.values = append(what.values, text)
	}
	if text := model.Text(options, "values"); text != "" && model.Get(options, "valuesObject") == nil {
		what.values = append(what.values, []byte(text))
	}
	what.values = appendValues(what.values, model.Get(options, "valuesObject"))
	parameters, _ := model.Get(options, "parameters").([]any)
	for _, p := range parameters {
		set := "--set"
		if force, _ := model.Get(p, "forceString").(bool); force {
			set = "--set-string"
		}
		what.setOptions = append(what.setOptions, set, model.Text(p, "name")+"="+strings.ReplaceAll(model.Text(p, "value"), ",", `\,`))
	}
	if model.Get(options, "fileParameters") != nil {
		r.addPartlyOmitted(l, "values from fileParameters are not set", renderHint)
	}
	namespace := model.Text(options, "namespace")
	if namespace == "" {
		namespace = at.namespace
	}
	return r.addChart(ctx, l, at.name, namespace, what)
}

// inflateCharts renders the charts of a kustomization and puts what they make among its resources.
func (w *kustomizationWalk) inflateCharts(ctx context.Context, k *kustomization) error {
	if w.charts == nil || len(k.HelmCharts) == 0 {
		return nil
	}
	for i, c := range k.HelmCharts {
		e := entry{role: asChart, kustomization: k, origin: model.Origin{File: k.file.name, Line: k.doc.lineOf("helmCharts")}, field: "helmCharts"}
		at := k.chartPath(c)
		dir, err := filesys.ConfirmDir(w.fileSystem, k.dir.Join(at))
		if err != nil || !dir.HasPrefix(k.dir) && (w.allowedRoot == "" || !dir.HasPrefix(w.allowedRoot)) {
			missing := e.newRefusal(buildHint, "the chart %s is not there (%s), and nothing is fetched", c.Name, path.Join(k.name, at))
			if !w.allowMissing {
				return missing
			}
			w.addMissingPart(e, "a chart of it is not in the input, and nothing is fetched", renderHint, missing)
			continue
		}
		what := chartInputs{dir: dir, release: c.ReleaseName, namespace: c.Namespace, includeCRDs: c.IncludeCRDs, withoutDefaults: c.ValuesMerge == "replace"}
		if what.release == "" {
			what.release = "release-name"
		}
		if what.namespace == "" {
			what.namespace = "default"
		}
		if what.values, err = w.readChartValues(ctx, e, c); err != nil {
			return err
		}
		text, err := w.charts.renderChart(ctx, what)
		if err != nil {
			return e.newRefusal(buildHint, "the chart %s is not rendered: %s", c.Name, err)
		}
		file := fmt.Sprintf("helmCharts-%d.yaml", i)
		w.fileSystem.overrides[k.dir.Join(file)] = text
		w.generatedFiles[path.Join(k.name, file)] = k.file.name
		k.Resources = append(k.Resources, file)
	}
	k.HelmCharts, k.HelmGlobals = nil, nil
	return w.overrideKustomization(k, k.Kustomization)
}

// chartPath returns where the chart of a kustomization is, from its folder.
func (k *kustomization) chartPath(c types.HelmChart) string {
	home := "charts"
	if k.HelmGlobals != nil && k.HelmGlobals.ChartHome != "" {
		home = k.HelmGlobals.ChartHome
	}
	if c.Repo != "" && c.Version != "" {
		return path.Join(home, c.Name+"-"+c.Version, c.Name)
	}
	return path.Join(home, c.Name)
}

// readChartValues returns the values that a kustomization gives to a chart.
func (w *kustomizationWalk) readChartValues(ctx context.Context, e entry, c types.HelmChart) ([][]byte, error) {
	var out [][]byte
	for _, file := range append([]string{c.ValuesFile}, c.AdditionalValuesFiles...) {
		if file == "" {
			continue
		}
		e.role, e.text = asData, file
		s, err := w.locateEntry(e)
		if err != nil {
			return nil, err
		}
		if err := w.checkFile(ctx, e, s); err != nil {
			return nil, err
		}
		text, err := w.readFile(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	if len(c.ValuesInline) > 0 {
		out = appendValues(out, c.ValuesInline)
	}
	return out, nil
}
