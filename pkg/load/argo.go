package load

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// application reads what an Argo CD Application deploys.
func (r *repo) application(ctx context.Context, l *lead) error {
	origins := l.origins()
	for _, s := range l.sources() {
		switch {
		case model.Text(s, "chart") != "":
			r.omit(l, "the chart is in another repository", renderHint)
			continue
		case model.Get(s, "path") == nil: // it only lends its files to another source
			continue
		}
		o := origins[0]
		origins = origins[1:]
		dir, from, there := r.locate(model.Text(s, "path"))
		switch {
		case !r.hand.holds(o):
			r.omit(l, otherRepository, "read that too, rendered: argocd app manifests NAME")
			continue
		case !there:
			r.omit(l, noPath, pathHint)
			continue
		}
		at := order{dir: dir, name: from.nameOf(dir.String()), by: l, namespace: l.text("spec", "destination", "namespace")}
		if err := r.applicationSource(ctx, l, s, at, from); err != nil {
			return err
		}
	}
	return nil
}

// applicationSource reads one source, by the tool that it asks for, else by what the folder holds.
func (r *repo) applicationSource(ctx context.Context, l *lead, s any, at order, from top) error {
	has := func(field string) bool { return model.Get(s, field) != nil }
	if has("plugin") {
		r.omitPart(l, "a plugin renders it, which is not run: it is read as if there were none", renderHint)
	}
	switch {
	case has("helm") || !has("kustomize") && !has("directory") && r.walk.disk.Exists(at.dir.Join("Chart.yaml")):
		return r.applicationChart(ctx, l, s, at, from)
	case has("kustomize") || !has("directory") && r.kustomizationIn(at.dir) != "":
		if r.kustomizationIn(at.dir) == "" {
			r.omit(l, "the folder holds no kustomization", "")
			return nil
		}
		return r.overlaid(ctx, at, func(k *types.Kustomization) error { return argoChange(model.Get(s, "kustomize"), k) })
	case has("plugin"): // which may pick any of the manifests: they are read once for all such Applications, and not put into a namespace
		if key := "plugin " + at.dir.String(); !r.seen[key] {
			r.seen[key] = true
			at.namespace = ""
			return r.directory(ctx, l, nil, at)
		}
		return nil
	}
	return r.directory(ctx, l, model.Get(s, "directory"), at)
}

// argoChange changes a kustomization as Argo CD does.
func argoChange(options any, k *types.Kustomization) error {
	for field, to := range map[string]*string{"namePrefix": &k.NamePrefix, "nameSuffix": &k.NameSuffix, "namespace": &k.Namespace} {
		if text := model.Text(options, field); text != "" {
			*to = text
		}
	}
	list, _ := model.Get(options, "patches").([]any)
	patches, err := patchesIn(list)
	if err != nil {
		return err
	}
	for i := range patches {
		if raw, ok := list[i].(map[string]any); ok && raw["path"] != nil {
			patches[i].Patch, patches[i].Path = "", model.Text(raw, "path")
		}
		if raw := model.Get(list[i], "options"); raw != nil {
			text, err := json.Marshal(raw)
			if err == nil {
				err = json.Unmarshal(text, &patches[i].Options)
			}
			if err != nil {
				return plainly(err)
			}
		}
	}
	k.Patches = append(k.Patches, patches...)
	components, _ := model.Get(options, "components").([]any)
	for _, c := range components {
		if path, ok := c.(string); ok {
			k.Components = append(k.Components, path)
		}
	}
	labels := textsAt(options, "commonLabels")
	if len(labels) > 0 {
		only, _ := model.Get(options, "labelWithoutSelector").(bool)
		templates, _ := model.Get(options, "labelIncludeTemplates").(bool)
		k.Labels = append(k.Labels, types.Label{Pairs: labels, IncludeSelectors: !only, IncludeTemplates: only && templates})
	}
	if more := textsAt(options, "commonAnnotations"); len(more) > 0 {
		if k.CommonAnnotations == nil {
			k.CommonAnnotations = map[string]string{}
		}
		for key, value := range more {
			k.CommonAnnotations[key] = value
		}
	}
	return nil
}

// directory reads the manifests of a folder as they are.
func (r *repo) directory(ctx context.Context, l *lead, options any, at order) error {
	recurse, _ := model.Get(options, "recurse").(bool)
	include, exclude := glob(model.Text(options, "include")), glob(model.Text(options, "exclude"))
	var sources []source
	err := filepath.WalkDir(at.dir.String(), func(file string, e fs.DirEntry, err error) error {
		below, failed := filepath.Rel(at.dir.String(), file)
		switch {
		case err != nil:
			return err
		case failed != nil:
			return failed
		case below == ".":
			return nil
		case e.IsDir() && (!recurse || hidden(e.Name())):
			return fs.SkipDir
		case e.IsDir() || hidden(e.Name()):
			return nil
		}
		below = filepath.ToSlash(below)
		if exclude != nil && exclude.MatchString(below) || include != nil && !include.MatchString(below) {
			return nil
		}
		switch {
		case filepath.Ext(file) == ".jsonnet":
			r.omitPart(l, "Jsonnet is not run", renderHint)
		case isManifest(file) && e.Type().IsRegular():
			sources = append(sources, source{path: file, name: at.name + "/" + below})
		}
		return nil
	})
	if err != nil {
		r.failed(at, cause(err), "")
		return nil
	}
	pieces, err := r.in.read(ctx, sources)
	if err != nil {
		return err
	}
	for i := range pieces {
		pieces[i].namespace = at.namespace
	}
	r.emit(pieces, l)
	return nil
}

// glob is a pattern for paths in which * stands for anything, slashes too, and {a,b} for one of several; nil for none.
func glob(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	var b strings.Builder
	depth := 0
	for _, c := range pattern {
		switch {
		case c == '*':
			b.WriteString(".*")
		case c == '?':
			b.WriteString(".")
		case c == '{':
			depth++
			b.WriteString("(?:")
		case c == '}' && depth > 0:
			depth--
			b.WriteString(")")
		case c == ',' && depth > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile("^" + b.String() + strings.Repeat(")", depth) + "$")
	if err != nil {
		return nil
	}
	return re
}
