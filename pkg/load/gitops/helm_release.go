package gitops

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const chartNotFound = "the chart is not in the input"

// renderHelmRelease renders the chart of a HelmRelease, if it is in the input.
func (r *renderer) renderHelmRelease(ctx context.Context, l *gitopsSource) error {
	if l.isRemote() && r.destinations.chosen == "" {
		r.omissions.addOmitted(l, otherCluster, destinationHint)
		return nil
	}
	dir, from, there := r.locateChart(l)
	if !there || !r.workspace.fileSystem.Exists(dir.Join("Chart.yaml")) {
		r.omissions.addOmitted(l, chartNotFound, "render it, and read the result too: helm template CHART -f VALUES")
		return nil
	}
	target := l.textAt("spec", "targetNamespace")
	what := helm.Release{Dir: dir, Name: l.textAt("spec", "releaseName"), IncludeCRDs: true}
	if what.Name == "" {
		what.Name = strings.TrimPrefix(target+"-"+l.name, "-")
	}
	if target == "" {
		target = l.namespace
	}
	if files := l.listAt("spec", "chart", "spec", "valuesFiles"); len(files) > 0 {
		what.WithoutDefaults = true
		for _, file := range files {
			name, _ := file.(string)
			text, err := r.workspace.readValuesFile(ctx, from, from.dir, name)
			if err != nil {
				r.omissions.addOmitted(l, "of the values, "+err.Error(), "")
				return nil
			}
			what.Values = append(what.Values, text)
		}
	}
	for _, v := range l.listAt("spec", "valuesFrom") {
		if text := r.readValuesFrom(l, v); text != nil {
			what.Values = append(what.Values, text)
		}
	}
	what.Values = helm.AppendValues(what.Values, model.Get(l.value, "spec", "values"))
	if len(l.listAt("spec", "postRenderers")) > 0 {
		r.omissions.addPartlyKnown(l, "post-renderers are not run", helm.RenderHint)
	}
	return r.addChart(ctx, l, from.displayName(dir.String()), target, what)
}

// locateChart finds the folder of the chart of a HelmRelease: at a path of a repository, or all of
// one that the user has named.
func (r *renderer) locateChart(l *gitopsSource) (dir filesys.ConfirmedDir, from pathRoot, found bool) {
	if model.Get(l.value, "spec", "chartRef") != nil {
		o := l.fluxRepository("spec", "chartRef")
		if _, mapped := r.repositories.folderOf(o); !mapped {
			return "", pathRoot{}, false
		}
		return r.locateInRepository(o, ".")
	}
	if len(l.sourcePaths()) == 0 || !r.repositories.isLocal(l.sourceRepositories()[0]) {
		return "", pathRoot{}, false
	}
	return r.locateInRepository(l.sourceRepositories()[0], l.sourcePaths()[0])
}

// readValuesFrom returns the values that a HelmRelease takes from a ConfigMap; nil, and told, if
// they are not known.
func (r *renderer) readValuesFrom(l *gitopsSource, v any) []byte {
	optional, _ := model.Get(v, "optional").(bool)
	name, key := model.Text(v, "name"), model.Text(v, "valuesKey")
	if key == "" {
		key = "values.yaml"
	}
	data := r.index.findConfigMap(l.namespace, name)
	text, there := data[key]
	if data == nil {
		r.index.noteMissing(model.Text(v, "kind"), l.namespace, name)
	}
	switch {
	case model.Text(v, "kind") == "ConfigMap" && there && model.Text(v, "targetPath") == "":
		return []byte(text)
	case model.Text(v, "kind") == "ConfigMap" && !there && optional:
		return nil
	case model.Text(v, "kind") == "Secret" && optional && !r.index.hasSecret(l.namespace, name):
		r.omissions.addPartlyOmitted(l, "an optional Secret with values is not in the input, and counts as missing",
			helm.RenderHint)
		return nil
	}
	r.omissions.addPartlyOmitted(l,
		"values come from Secrets, from ConfigMaps that are not in the input, or are put at a path", helm.RenderHint)
	return nil
}

// readValuesFile returns a file at a path that counts from a folder, inside the repository.
func (r *workspace) readValuesFile(ctx context.Context, within pathRoot, from filesys.ConfirmedDir,
	name string) ([]byte, error) {
	at := from.Join(filepath.FromSlash(name))
	if strings.HasPrefix(name, "/") {
		at = within.dir.Join(filepath.FromSlash(name))
	}
	dir, file, err := r.fileSystem.CleanedAbs(at)
	switch {
	case err != nil || file == "":
		return nil, errors.New("there is no file " + name)
	case !dir.HasPrefix(within.dir):
		return nil, errors.New(name + " is outside of the repository")
	}
	return r.walk.ReadFile(ctx, kustomize.FileLocation{Dir: dir, File: file, Name: within.displayName(dir.Join(file))})
}

// renderApplicationChart renders the chart of an Application.
func (r *renderer) renderApplicationChart(ctx context.Context, l *gitopsSource, s any, at buildRequest,
	from pathRoot) error {
	options := model.Get(s, "helm")
	if !r.workspace.fileSystem.Exists(at.dir.Join("Chart.yaml")) {
		r.omissions.addOmitted(l, "the folder holds no chart", "")
		return nil
	}
	what := helm.Release{Dir: at.dir, Name: model.Text(options, "releaseName")}
	if what.Name == "" {
		what.Name = l.name
	}
	skip, _ := model.Get(options, "skipCrds").(bool)
	ignore, _ := model.Get(options, "ignoreMissingValueFiles").(bool)
	what.IncludeCRDs = !skip
	files, _ := model.Get(options, "valueFiles").([]any)
	for _, v := range files {
		name, _ := v.(string)
		base := at.dir
		if strings.HasPrefix(name, "$") { // a file of another source
			ref, rest, _ := strings.Cut(name[1:], "/")
			if !r.repositories.isLocalRef(l, ref) {
				r.omissions.addOmitted(l, "a file of values is in another repository", helm.RenderHint)
				return nil
			}
			name, base = rest, from.dir
		}
		text, err := r.workspace.readValuesFile(ctx, from, base, name)
		if err != nil && ignore {
			continue
		}
		if err != nil {
			r.omissions.addOmitted(l, "of the values, "+err.Error(), "")
			return nil
		}
		what.Values = append(what.Values, text)
	}
	if text := model.Text(options, "values"); text != "" && model.Get(options, "valuesObject") == nil {
		what.Values = append(what.Values, []byte(text))
	}
	what.Values = helm.AppendValues(what.Values, model.Get(options, "valuesObject"))
	parameters, _ := model.Get(options, "parameters").([]any)
	for _, p := range parameters {
		set := "--set"
		if force, _ := model.Get(p, "forceString").(bool); force {
			set = "--set-string"
		}
		what.SetOptions = append(what.SetOptions, set, model.Text(p, "name")+"="+
			strings.ReplaceAll(model.Text(p, "value"), ",", `\,`))
	}
	if model.Get(options, "fileParameters") != nil {
		r.omissions.addPartlyOmitted(l, "values from fileParameters are not set", helm.RenderHint)
	}
	namespace := model.Text(options, "namespace")
	if namespace == "" {
		namespace = at.namespace
	}
	return r.addChart(ctx, l, at.name, namespace, what)
}
