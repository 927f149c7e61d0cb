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

const noChart = "the chart is not in the input"

// release renders the chart of a HelmRelease, if it is in the input.
func (r *repo) release(ctx context.Context, l *lead) error {
	if l.remote() && r.chosen == "" {
		r.omit(l, otherCluster, destinationHint)
		return nil
	}
	if len(l.paths()) == 0 || !r.hand.holds(l.origins()[0]) {
		r.omit(l, noChart, "render it, and read the result too: helm template CHART -f VALUES")
		return nil
	}
	dir, from, there := r.locate(l.paths()[0])
	if !there || !r.walk.disk.Exists(dir.Join("Chart.yaml")) {
		r.omit(l, noChart, "render it, and read the result too: helm template CHART -f VALUES")
		return nil
	}
	target := l.text("spec", "targetNamespace")
	what := rendering{dir: dir, release: l.text("spec", "releaseName"), crds: true}
	if what.release == "" {
		what.release = strings.TrimPrefix(target+"-"+l.name, "-")
	}
	if target == "" {
		target = l.namespace
	}
	if files := l.list("spec", "chart", "spec", "valuesFiles"); len(files) > 0 {
		what.bare = true
		for _, file := range files {
			name, _ := file.(string)
			text, err := r.valuesFile(ctx, from, from.dir, name)
			if err != nil {
				r.omit(l, "of the values, "+err.Error(), "")
				return nil
			}
			what.values = append(what.values, text)
		}
	}
	for _, v := range l.list("spec", "valuesFrom") {
		if text := r.valuesFrom(l, v); text != nil {
			what.values = append(what.values, text)
		}
	}
	what.values = appendValues(what.values, model.Get(l.value, "spec", "values"))
	if len(l.list("spec", "postRenderers")) > 0 {
		r.omitPart(l, "post-renderers are not run", renderHint)
	}
	return r.rendered(ctx, l, from.nameOf(dir.String()), target, what)
}

// valuesFrom is the values that a HelmRelease takes from a ConfigMap; nil, and told, if they are not known.
func (r *repo) valuesFrom(l *lead, v any) []byte {
	optional, _ := model.Get(v, "optional").(bool)
	name, key := model.Text(v, "name"), model.Text(v, "valuesKey")
	if key == "" {
		key = "values.yaml"
	}
	data := r.configMap(l.namespace, name)
	text, there := data[key]
	switch {
	case model.Text(v, "kind") == "ConfigMap" && there && model.Text(v, "targetPath") == "":
		return []byte(text)
	case model.Text(v, "kind") == "ConfigMap" && !there && optional:
		return nil
	case model.Text(v, "kind") == "Secret" && optional && !r.holdsSecret(l.namespace, name):
		r.omitPart(l, "an optional Secret with values is not in the input, and counts as missing", renderHint)
		return nil
	}
	r.omitPart(l, "values come from Secrets, from ConfigMaps that are not in the input, or are put at a path", renderHint)
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

// valuesFile is a file at a path that counts from a folder, inside the repository.
func (r *land) valuesFile(ctx context.Context, within top, from filesys.ConfirmedDir, name string) ([]byte, error) {
	at := from.Join(filepath.FromSlash(name))
	if strings.HasPrefix(name, "/") {
		at = within.dir.Join(filepath.FromSlash(name))
	}
	dir, file, err := r.walk.disk.CleanedAbs(at)
	switch {
	case err != nil || file == "":
		return nil, errors.New("there is no file " + name)
	case !dir.HasPrefix(within.dir):
		return nil, errors.New(name + " is outside of the repository")
	}
	return r.walk.read(ctx, spot{dir: dir, file: file, name: within.nameOf(dir.Join(file))})
}

// applicationChart renders the chart of an Application.
func (r *repo) applicationChart(ctx context.Context, l *lead, s any, at order, from top) error {
	options := model.Get(s, "helm")
	if !r.walk.disk.Exists(at.dir.Join("Chart.yaml")) {
		r.omit(l, "the folder holds no chart", "")
		return nil
	}
	what := rendering{dir: at.dir, release: model.Text(options, "releaseName")}
	if what.release == "" {
		what.release = l.name
	}
	skip, _ := model.Get(options, "skipCrds").(bool)
	ignore, _ := model.Get(options, "ignoreMissingValueFiles").(bool)
	what.crds = !skip
	files, _ := model.Get(options, "valueFiles").([]any)
	for _, v := range files {
		name, _ := v.(string)
		base := at.dir
		if strings.HasPrefix(name, "$") { // a file of another source
			ref, rest, _ := strings.Cut(name[1:], "/")
			if !r.hand.lends(l, ref) {
				r.omit(l, "a file of values is in another repository", renderHint)
				return nil
			}
			name, base = rest, from.dir
		}
		text, err := r.valuesFile(ctx, from, base, name)
		if err != nil && ignore {
			continue
		}
		if err != nil {
			r.omit(l, "of the values, "+err.Error(), "")
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
		what.sets = append(what.sets, set, model.Text(p, "name")+"="+strings.ReplaceAll(model.Text(p, "value"), ",", `\,`))
	}
	if model.Get(options, "fileParameters") != nil {
		r.omitPart(l, "values from fileParameters are not set", renderHint)
	}
	namespace := model.Text(options, "namespace")
	if namespace == "" {
		namespace = at.namespace
	}
	return r.rendered(ctx, l, at.name, namespace, what)
}

// inflate renders the charts of a kustomization and puts what they make among its resources.
func (w *walk) inflate(ctx context.Context, k *kustomization) error {
	if w.charts == nil || len(k.HelmCharts) == 0 {
		return nil
	}
	for i, c := range k.HelmCharts {
		e := entry{role: asChart, in: k, at: model.Origin{File: k.file.name, Line: k.doc.lineOf("helmCharts")}, field: "helmCharts"}
		at := k.chartPath(c)
		dir, err := filesys.ConfirmDir(w.disk, k.dir.Join(at))
		if err != nil || !dir.HasPrefix(k.dir) && (w.within == "" || !dir.HasPrefix(w.within)) {
			missing := e.refuse(buildHint, "the chart %s is not there (%s), and nothing is fetched", c.Name, path.Join(k.name, at))
			if !w.without {
				return missing
			}
			w.lacking(e, "a chart of it is not in the input, and nothing is fetched", renderHint, missing)
			continue
		}
		what := rendering{dir: dir, release: c.ReleaseName, namespace: c.Namespace, crds: c.IncludeCRDs, bare: c.ValuesMerge == "replace"}
		if what.release == "" {
			what.release = "release-name"
		}
		if what.namespace == "" {
			what.namespace = "default"
		}
		if what.values, err = w.chartValues(ctx, e, c); err != nil {
			return err
		}
		text, err := w.charts.render(ctx, what)
		if err != nil {
			return e.refuse(buildHint, "the chart %s is not rendered: %s", c.Name, err)
		}
		file := fmt.Sprintf("helmCharts-%d.yaml", i)
		w.disk.own[k.dir.Join(file)] = text
		w.stands[path.Join(k.name, file)] = k.file.name
		k.Resources = append(k.Resources, file)
	}
	k.HelmCharts, k.HelmGlobals = nil, nil
	return w.rewrite(k, k.Kustomization)
}

// chartPath is where the chart of a kustomization is, from its folder.
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

// chartValues are the values that a kustomization gives to a chart.
func (w *walk) chartValues(ctx context.Context, e entry, c types.HelmChart) ([][]byte, error) {
	var out [][]byte
	for _, file := range append([]string{c.ValuesFile}, c.AdditionalValuesFiles...) {
		if file == "" {
			continue
		}
		e.role, e.text = asData, file
		s, err := w.find(e)
		if err != nil {
			return nil, err
		}
		if err := w.file(ctx, e, s); err != nil {
			return nil, err
		}
		text, err := w.read(ctx, s)
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
