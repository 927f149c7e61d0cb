package gitops

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxApplications is how many Applications one ApplicationSet may make.
const maxApplications = 5000

// maxTemplateValues is how many values the templates and generators of all ApplicationSets may go
// through: a matrix of matrices multiplies.
const maxTemplateValues = 5_000_000

// Why an ApplicationSet is not rendered.
var (
	errTooMany       = errors.New("it makes more than " + strconv.Itoa(maxApplications) + " Applications")
	errTooManyValues = errors.New("it takes more than " + strconv.Itoa(maxTemplateValues) +
		" values to make its Applications")
	errOtherRepository = errors.New(otherRepository)
)

const applicationSetHint = "render it where it runs, and read the result: argocd appset generate FILE. Until then what it deploys is read as it stands, without its namespaces"

// templateValues are what a generator gives a template: texts by their full names, or, for Go
// templates, a tree.
type templateValues map[string]any

// mergeValues merges the values of two generators; those of the second count. Without Go templates
// they must not differ.
func (w templateFiller) mergeValues(a, b templateValues) (templateValues, error) {
	if err := w.countValues(len(a) + len(b)); err != nil {
		return nil, err
	}
	out := maps.Clone(a)
	for key, v := range b {
		before, there := out[key]
		inner, isMap := before.(map[string]any)
		more, areMaps := v.(map[string]any)
		switch {
		case there && !w.goTemplate && before != v:
			return nil, errors.New("the generators of a matrix give " + key + " different values")
		case isMap && areMaps:
			merged, err := w.mergeValues(inner, more)
			if err != nil {
				return nil, err
			}
			out[key] = map[string]any(merged)
		default:
			out[key] = v
		}
	}
	return out, nil
}

// appSetGenerator makes the Applications of one ApplicationSet.
type appSetGenerator struct {
	workspace *workspace
	isLocal   func(sourceRepository) bool // whether a repository is the one that is read
	folderOf  func(sourceRepository) (pathRoot, bool)
	template  templateFiller // renders texts
}

func newAppSetGenerator(at *workspace, repositories *repositoryMatcher, l *gitopsSource) appSetGenerator {
	return appSetGenerator{workspace: at, isLocal: repositories.isLocal, folderOf: repositories.folderOf,
		template: newTemplateFiller(l, &at.valuesUsed)}
}

// findRepositories returns the addresses that the generators of an ApplicationSet read, and whether
// what they look for is there.
func (g appSetGenerator) findRepositories(ctx context.Context, v any) map[string]bool {
	out := map[string]bool{}
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			maps.Copy(out, g.findRepositories(ctx, inner))
		}
	case map[string]any:
		if from := v["git"]; from != nil {
			g.isLocal = func(sourceRepository) bool { return true }
			sets, _ := g.expandGit(ctx, from)
			out[normalizeURL(model.Text(from, "repoURL"))] = len(sets) > 0
		}
		maps.Copy(out, g.findRepositories(ctx, model.Get(v, "matrix", "generators")))
	}
	return out
}

// makeApplications returns the Applications that an ApplicationSet makes, and why they are not all;
// nil if they are.
func (g appSetGenerator) makeApplications(ctx context.Context, l *gitopsSource) (out []*gitopsSource, why error) {
	for _, from := range l.listAt("spec", "generators") {
		sets, err := g.expandGenerator(ctx, from)
		if err != nil {
			why = err
			continue
		}
		for _, set := range sets {
			made, err := g.template.fillTree(model.Get(l.value, "spec", "template"), set)
			app, _ := made.(map[string]any)
			if patch := l.textAt("spec", "templatePatch"); err == nil && patch != "" {
				app, err = g.patchApplication(app, patch, set)
			}
			switch {
			case err != nil:
				why = err
				continue
			case len(out) == maxApplications:
				return out, errTooMany
			case app == nil:
				continue
			}
			namespace := model.Text(app, "metadata", "namespace")
			if namespace == "" {
				namespace = l.namespace
			}
			out = append(out, &gitopsSource{kind: argoApplication, namespace: namespace,
				name: model.Text(app, "metadata", "name"), value: app, origin: l.origin, cluster: l.cluster})
		}
	}
	return out, why
}

// expandGenerator returns the values that one generator gives.
func (g appSetGenerator) expandGenerator(ctx context.Context, from any) ([]templateValues, error) {
	fields, _ := from.(map[string]any)
	kind := ""
	var selector any
	if err := g.template.countValues(1); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case name == "selector":
			selector = fields[name]
			continue
		case model.Get(from, name, "template") != nil:
			return nil, errors.New("a generator has a template of its own")
		case kind != "":
			return nil, errors.New("a generator is of several kinds")
		}
		kind = name
	}
	sets, err := g.expandKind(ctx, kind, from)
	if err != nil || selector == nil {
		return sets, err
	}
	return selectSets(sets, selector)
}

// expandKind returns the values that one generator gives, without its selector.
func (g appSetGenerator) expandKind(ctx context.Context, kind string, from any) ([]templateValues, error) {
	switch kind {
	case "list":
		if model.Get(from, "list", "elementsYaml") != nil {
			return nil, errors.New("a list is made by a template")
		}
		return g.expandList(from)
	case "git":
		return g.expandGit(ctx, model.Get(from, "git"))
	case "matrix":
		return g.expandMatrix(ctx, from)
	}
	return nil, errors.New("it makes Applications of what is not in the input (generator " + kind + ")")
}

func (g appSetGenerator) expandList(from any) ([]templateValues, error) {
	elements, _ := model.Get(from, "list", "elements").([]any)
	var out []templateValues
	for _, e := range elements {
		m, ok := e.(map[string]any)
		if !ok {
			return nil, errors.New("an element of a list is no map")
		}
		set := templateValues{}
		if err := g.template.countValues(1 + len(m)); err != nil {
			return nil, err
		}
		for key, v := range m {
			g.template.setValue(set, v, key)
		}
		out = append(out, set)
	}
	return out, nil
}

// expandMatrix returns every combination of what two generators give. The second one may use what
// the first one gives.
func (g appSetGenerator) expandMatrix(ctx context.Context, from any) ([]templateValues, error) {
	pair, _ := model.Get(from, "matrix", "generators").([]any)
	if len(pair) != 2 {
		return nil, errors.New("a matrix has two generators")
	}
	first, err := g.expandGenerator(ctx, pair[0])
	if err != nil {
		return nil, err
	}
	var out []templateValues
	for _, a := range first {
		filled, err := g.template.fillTree(pair[1], a)
		if err != nil {
			return nil, err
		}
		second, err := g.expandGenerator(ctx, filled)
		if err != nil {
			return nil, err
		}
		for _, b := range second {
			if len(out) == maxApplications {
				return nil, errTooMany
			}
			both, err := g.template.mergeValues(b, a)
			if err != nil {
				return nil, err
			}
			out = append(out, both)
		}
	}
	return out, nil
}

// expandGit returns the folders, or the files, that patterns pick out of the repository at hand.
func (g appSetGenerator) expandGit(ctx context.Context, from any) ([]templateValues, error) {
	url := normalizeURL(model.Text(from, "repoURL"))
	if !g.isLocal(sourceRepository{tool: "argo", name: url, url: url}) {
		return nil, errOtherRepository
	}
	roots := g.workspace.pathRoots
	if root, mapped := g.folderOf(sourceRepository{tool: "argo", name: url, url: url}); mapped {
		roots = []pathRoot{root}
	}
	var out []templateValues
	add := func(at string, more templateValues) error {
		set := g.template.pathValues(model.Text(from, "pathParamPrefix"), at)
		maps.Copy(more, set)
		extra, _ := model.Get(from, "values").(map[string]any)
		for key, v := range extra {
			filled, err := g.template.fillTree(v, more)
			if err != nil {
				return err
			}
			g.template.setValue(more, filled, "values", key)
		}
		if len(out) == maxApplications {
			return errTooMany
		}
		out = append(out, more)
		return nil
	}
	if files := parsePatterns(from, "files"); len(files) > 0 {
		for _, t := range roots[:min(1, len(roots))] {
			picked, err := g.pickFiles(t, files)
			if err != nil {
				return nil, err
			}
			for _, file := range picked {
				docs, err := g.workspace.walk.ReadManifests(ctx, kustomize.FileLocation{Dir: t.dir, File: file,
					Name: t.displayName(t.dir.Join(file))})
				if err != nil {
					return nil, document.CauseOf(err)
				}
				for _, fields := range listValues(docs) {
					more := templateValues{}
					for key, v := range fields {
						g.template.setValue(more, v, key)
					}
					if err := add(file, more); err != nil {
						return nil, err
					}
				}
			}
		}
		return out, nil
	}
	picked, err := g.pickFolders(roots, parsePatterns(from, "directories"))
	if err != nil {
		return nil, err
	}
	for _, dir := range picked {
		if err := add(dir+"/", templateValues{}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// listValues returns the maps that a file of values holds: one, or a list of them.
func listValues(docs []document.Manifest) []map[string]any {
	var out []map[string]any
	for _, doc := range docs {
		list, isList := doc.Value.([]any)
		if !isList {
			list = []any{doc.Value}
		}
		for _, v := range list {
			fields, _ := v.(map[string]any)
			out = append(out, fields)
		}
	}
	return out
}
