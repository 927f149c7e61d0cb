package kustomize

import (
	"context"
	"fmt"
	"path"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// inflateCharts renders the charts of a kustomization and puts what they make among its resources.
func (w *Walk) inflateCharts(ctx context.Context, k *Kustomization) error {
	if w.charts == nil || len(k.HelmCharts) == 0 {
		return nil
	}
	for i, c := range k.HelmCharts {
		e := entry{role: asChart, kustomization: k, origin: model.Origin{File: k.file.Name,
			Line: k.doc.LineOf("helmCharts")}, field: "helmCharts"}
		at := k.chartPath(c)
		dir, err := filesys.ConfirmDir(w.fileSystem, k.Dir.Join(at))
		if err != nil || !dir.HasPrefix(k.Dir) && (w.allowedRoot == "" || !dir.HasPrefix(w.allowedRoot)) {
			missing := e.newRefusal(BuildHint, "the chart %s is not there (%s), and nothing is fetched", c.Name,
				path.Join(k.Name, at))
			if !w.allowMissing {
				return missing
			}
			w.addMissingChart(e, c, "a chart of it is not in the input, and nothing is fetched", helm.RenderHint, missing)
			continue
		}
		what := helm.Release{Dir: dir, Name: c.ReleaseName, Namespace: c.Namespace, IncludeCRDs: c.IncludeCRDs,
			WithoutDefaults: c.ValuesMerge == "replace"}
		if what.Name == "" {
			what.Name = "release-name"
		}
		if what.Namespace == "" {
			what.Namespace = "default"
		}
		if what.Values, err = w.readChartValues(ctx, e, c); err != nil {
			return err
		}
		text, err := w.charts.Render(ctx, what)
		if err != nil {
			return e.newRefusal(BuildHint, "the chart %s is not rendered: %s", c.Name, ShortenError(err))
		}
		file := fmt.Sprintf("helmCharts-%d.yaml", i)
		w.fileSystem.overrides[k.Dir.Join(file)] = text
		w.generatedFiles[path.Join(k.Name, file)] = k.file.Name
		k.Resources = append(k.Resources, file)
	}
	k.HelmCharts, k.HelmGlobals = nil, nil
	return w.overrideKustomization(k, k.Kustomization)
}

// ChartFolders returns the folders of the charts of k. They need not be there.
func (k *Kustomization) ChartFolders() []string {
	var out []string
	for _, c := range k.HelmCharts {
		out = append(out, k.Dir.Join(k.chartPath(c)))
	}
	return out
}

// chartPath returns where the chart of a kustomization is, from its folder.
func (k *Kustomization) chartPath(c types.HelmChart) string {
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
func (w *Walk) readChartValues(ctx context.Context, e entry, c types.HelmChart) ([][]byte, error) {
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
		text, err := w.ReadFile(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	if len(c.ValuesInline) > 0 {
		out = helm.AppendValues(out, c.ValuesInline)
	}
	return out, nil
}
