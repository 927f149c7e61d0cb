package gitops

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// renderApplication reads what an Argo CD Application deploys.
func (r *renderer) renderApplication(ctx context.Context, l *gitopsSource) error {
	origins := l.sourceRepositories()
	for _, s := range l.applicationSources() {
		switch {
		case model.Text(s, "chart") != "":
			r.omissions.addOmitted(l, "the chart is in another repository", helm.RenderHint)
			continue
		case model.Get(s, "path") == nil: // it only lends its files to another source
			continue
		}
		o := origins[0]
		origins = origins[1:]
		dir, from, there := r.locateInRepository(o, model.Text(s, "path"))
		switch {
		case !r.repositories.isLocal(o):
			r.omissions.addOmitted(l, otherRepository, sourceHint(o,
				"read that too, rendered: argocd app manifests NAME"))
			continue
		case !there:
			r.omissions.addOmitted(l, pathNotFound, pathHint)
			continue
		}
		at := buildRequest{dir: dir, allowedRoot: from.dir, name: from.displayName(dir.String()), source: l,
			namespace: l.textAt("spec", "destination", "namespace")}
		if err := r.renderApplicationSource(ctx, l, s, at, from); err != nil {
			return err
		}
	}
	return nil
}

// renderApplicationSource reads one source, by the tool that it asks for, else by what the folder
// holds.
func (r *renderer) renderApplicationSource(ctx context.Context, l *gitopsSource, s any, at buildRequest,
	from pathRoot) error {
	isPlugin := model.Get(s, "plugin") != nil
	if isPlugin {
		r.omissions.addPartlyOmitted(l, "a plugin renders it, which is not run: it is read as if there were none",
			helm.RenderHint)
	}
	switch {
	case r.isChart(s, at.dir):
		return r.renderApplicationChart(ctx, l, s, at, from)
	case r.isBuilt(s, at.dir):
		if r.workspace.findKustomizationFile(at.dir) == "" {
			r.omissions.addOmitted(l, "the folder holds no kustomization", "")
			return nil
		}
		return r.buildModified(ctx, at,
			func(k *types.Kustomization) error { return applyArgoFields(model.Get(s, "kustomize"), k) })
	// which may pick any of the manifests: they are read once for all such Applications, and not
	// put into a namespace
	case isPlugin:
		if key := "plugin " + at.dir.String(); !r.seen[key] {
			r.seen[key] = true
			at.namespace = ""
			return r.readDirectory(ctx, l, nil, at)
		}
		return nil
	}
	return r.readDirectory(ctx, l, model.Get(s, "directory"), at)
}

// applyArgoFields changes a kustomization as Argo CD does.
func applyArgoFields(options any, k *types.Kustomization) error {
	for field, to := range map[string]*string{"namePrefix": &k.NamePrefix, "nameSuffix": &k.NameSuffix,
		"namespace": &k.Namespace} {
		if text := model.Text(options, field); text != "" {
			*to = text
		}
	}
	list, _ := model.Get(options, "patches").([]any)
	patches, err := parsePatches(list)
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
				return kustomize.ShortenError(err)
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
	labels := textMapAt(options, "commonLabels")
	if len(labels) > 0 {
		only, _ := model.Get(options, "labelWithoutSelector").(bool)
		templates, _ := model.Get(options, "labelIncludeTemplates").(bool)
		k.Labels = append(k.Labels, types.Label{Pairs: labels, IncludeSelectors: !only, IncludeTemplates: only &&
			templates})
	}
	if more := textMapAt(options, "commonAnnotations"); len(more) > 0 {
		if k.CommonAnnotations == nil {
			k.CommonAnnotations = map[string]string{}
		}
		for key, value := range more {
			k.CommonAnnotations[key] = value
		}
	}
	return nil
}

// readDirectory reads the manifests of a folder as they are.
func (r *renderer) readDirectory(ctx context.Context, l *gitopsSource, options any, at buildRequest) error {
	listed, err := listDirectory(at.dir, options)
	if err != nil {
		r.addBuildFailure(at, document.CauseOf(err), "")
		return nil
	}
	if listed.hasJsonnet {
		r.omissions.addPartlyOmitted(l, "Jsonnet is not run", helm.RenderHint)
	}
	var sources []input.File
	for _, file := range listed.manifests {
		below, err := filepath.Rel(at.dir.String(), file)
		if err != nil {
			return err
		}
		one := input.File{Path: file, Name: at.name + "/" + filepath.ToSlash(below)}
		if !input.IsInside(cmp.Or(r.workspace.rootOf(at.dir), at.dir).String(), file) {
			one.LeavesAt = "the repository"
		}
		sources = append(sources, one)
	}
	pieces, err := r.reader.ReadFiles(ctx, sources)
	if err != nil {
		return err
	}
	for i := range pieces {
		pieces[i].Namespace, pieces[i].Text = at.namespace, r.options.Values.Fill(pieces[i].Text)
	}
	r.addDocuments(pieces, l)
	return nil
}

// directoryFiles is what an Application deploys of a folder of manifests.
type directoryFiles struct {
	manifests  []string
	hasJsonnet bool
}

// listDirectory lists the files that an Application deploys of a folder of manifests.
func listDirectory(dir filesys.ConfirmedDir, options any) (directoryFiles, error) {
	var out directoryFiles
	recurse, _ := model.Get(options, "recurse").(bool)
	include, exclude := compileGlob(model.Text(options, "include")), compileGlob(model.Text(options, "exclude"))
	err := filepath.WalkDir(dir.String(), func(file string, e fs.DirEntry, err error) error {
		below, failed := filepath.Rel(dir.String(), file)
		switch {
		case err != nil:
			return err
		case failed != nil:
			return failed
		case below == ".":
			return nil
		case e.IsDir() && (!recurse || input.IsHidden(e.Name())):
			return fs.SkipDir
		case e.IsDir() || input.IsHidden(e.Name()):
			return nil
		}
		below = filepath.ToSlash(below)
		if exclude != nil && exclude.MatchString(below) || include != nil && !include.MatchString(below) {
			return nil
		}
		switch {
		case filepath.Ext(file) == ".jsonnet":
			out.hasJsonnet = true
		case input.IsManifest(file) && isRegular(file):
			out.manifests = append(out.manifests, file)
		}
		return nil
	})
	return out, err
}

// isRegular reports whether a file, or what a link leads to, is a regular file.
func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// compileGlob returns a pattern for paths in which * stands for anything, slashes too, and {a,b}
// for one of several; nil for none.
func compileGlob(pattern string) *regexp.Regexp {
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
