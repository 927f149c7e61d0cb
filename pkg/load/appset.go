package load

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxApplications is how many Applications one ApplicationSet may make.
const maxApplications = 5000

// maxFilled is how many values the templates and generators of all ApplicationSets may go through: a matrix of matrices multiplies.
const maxFilled = 5_000_000

// Why an ApplicationSet is not rendered.
var (
	errTooMany    = errors.New("it makes more than " + strconv.Itoa(maxApplications) + " Applications")
	errFilled     = errors.New("it takes more than " + strconv.Itoa(maxFilled) + " values to make its Applications")
	errRepository = errors.New(otherRepository)
)

const setHint = "render it where it runs, and read the result: argocd appset generate FILE. Until then what it deploys is read as it stands, without its namespaces"

// values are what a generator gives a template: texts by their full names, or, for Go templates, a tree.
type values map[string]any

// both are the values of two generators; those of the second count. Without Go templates they must not differ.
func (w writer) both(a, b values) (values, error) {
	if err := w.takes(len(a) + len(b)); err != nil {
		return nil, err
	}
	out := maps.Clone(a)
	for key, v := range b {
		before, there := out[key]
		inner, isMap := before.(map[string]any)
		more, areMaps := v.(map[string]any)
		switch {
		case there && !w.goes && before != v:
			return nil, errors.New("the generators of a matrix give " + key + " different values")
		case isMap && areMaps:
			merged, err := w.both(inner, more)
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

// generator makes the Applications of one ApplicationSet.
type generator struct {
	land  *land
	holds func(origin) bool // the repository at hand
	write writer            // renders texts
}

func newGenerator(at *land, hand *hands, l *lead) generator {
	return generator{land: at, holds: hand.holds, write: newWriter(l, &at.putIn)}
}

// repositories are the addresses that the generators of an ApplicationSet read, and whether what they look for is there.
func (g generator) repositories(ctx context.Context, v any) map[string]bool {
	out := map[string]bool{}
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			maps.Copy(out, g.repositories(ctx, inner))
		}
	case map[string]any:
		if from := v["git"]; from != nil {
			g.holds = func(origin) bool { return true }
			sets, _ := g.git(ctx, from)
			out[plainURL(model.Text(from, "repoURL"))] = len(sets) > 0
		}
		maps.Copy(out, g.repositories(ctx, model.Get(v, "matrix", "generators")))
	}
	return out
}

// applications are those that an ApplicationSet makes, and why they are not all; nil if they are.
func (g generator) applications(ctx context.Context, l *lead) (out []*lead, why error) {
	for _, from := range l.list("spec", "generators") {
		sets, err := g.generate(ctx, from)
		if err != nil {
			why = err
			continue
		}
		for _, set := range sets {
			made, err := g.write.tree(model.Get(l.value, "spec", "template"), set)
			app, _ := made.(map[string]any)
			if patch := l.text("spec", "templatePatch"); err == nil && patch != "" {
				err = g.patches(patch, set)
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
			out = append(out, &lead{kind: argoApplication, namespace: namespace, name: model.Text(app, "metadata", "name"), value: app, at: l.at, into: l.into})
		}
	}
	return out, why
}

// patches is the error of a patch of the template that may change what is deployed, or where.
func (g generator) patches(patch string, set values) error {
	unknown := errors.New("it patches its template")
	if !g.write.goes {
		return unknown
	}
	text, err := g.write.text(patch, set)
	if err != nil {
		return unknown
	}
	docs, failed := g.land.walk.parse([]byte(text))
	if failed != nil {
		return unknown
	}
	for _, doc := range docs {
		for field, v := range fieldsOf(doc.value) {
			for inner := range fieldsOf(v) {
				if field != "metadata" && (field != "spec" || !slices.Contains([]string{"ignoreDifferences", "info", "project", "revisionHistoryLimit", "syncPolicy"}, inner)) ||
					field == "metadata" && (inner == "name" || inner == "namespace") {
					return unknown
				}
			}
		}
	}
	return nil
}

func fieldsOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// generate is what one generator gives.
func (g generator) generate(ctx context.Context, from any) ([]values, error) {
	fields, _ := from.(map[string]any)
	kind := ""
	if err := g.write.takes(1); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case name == "selector" || model.Get(from, name, "template") != nil:
			return nil, errors.New("a generator has a selector or a template of its own")
		case kind != "":
			return nil, errors.New("a generator is of several kinds")
		}
		kind = name
	}
	switch kind {
	case "list":
		if model.Get(from, "list", "elementsYaml") != nil {
			return nil, errors.New("a list is made by a template")
		}
		return g.list(from)
	case "git":
		return g.git(ctx, model.Get(from, "git"))
	case "matrix":
		return g.matrix(ctx, from)
	}
	return nil, errors.New("it makes Applications of what is not in the input (generator " + kind + ")")
}

func (g generator) list(from any) ([]values, error) {
	elements, _ := model.Get(from, "list", "elements").([]any)
	var out []values
	for _, e := range elements {
		m, ok := e.(map[string]any)
		if !ok {
			return nil, errors.New("an element of a list is no map")
		}
		set := values{}
		if err := g.write.takes(1 + len(m)); err != nil {
			return nil, err
		}
		for key, v := range m {
			g.write.put(set, v, key)
		}
		out = append(out, set)
	}
	return out, nil
}

// matrix is every combination of what two generators give. The second one may use what the first one gives.
func (g generator) matrix(ctx context.Context, from any) ([]values, error) {
	pair, _ := model.Get(from, "matrix", "generators").([]any)
	if len(pair) != 2 {
		return nil, errors.New("a matrix has two generators")
	}
	first, err := g.generate(ctx, pair[0])
	if err != nil {
		return nil, err
	}
	var out []values
	for _, a := range first {
		filled, err := g.write.tree(pair[1], a)
		if err != nil {
			return nil, err
		}
		second, err := g.generate(ctx, filled)
		if err != nil {
			return nil, err
		}
		for _, b := range second {
			if len(out) == maxApplications {
				return nil, errTooMany
			}
			both, err := g.write.both(b, a)
			if err != nil {
				return nil, err
			}
			out = append(out, both)
		}
	}
	return out, nil
}

// git gives the folders, or the files, that patterns pick out of the repository at hand.
func (g generator) git(ctx context.Context, from any) ([]values, error) {
	url := plainURL(model.Text(from, "repoURL"))
	if !g.holds(origin{"argo", url, url}) {
		return nil, errRepository
	}
	var out []values
	add := func(at string, more values) error {
		set := g.write.path(model.Text(from, "pathParamPrefix"), at)
		maps.Copy(more, set)
		extra, _ := model.Get(from, "values").(map[string]any)
		for key, v := range extra {
			filled, err := g.write.tree(v, more)
			if err != nil {
				return err
			}
			g.write.put(more, filled, "values", key)
		}
		if len(out) == maxApplications {
			return errTooMany
		}
		out = append(out, more)
		return nil
	}
	if files := patterns(from, "files"); len(files) > 0 {
		for _, t := range g.land.tops[:min(1, len(g.land.tops))] {
			picked, err := g.files(t, files)
			if err != nil {
				return nil, err
			}
			for _, file := range picked {
				docs, err := g.land.walk.manifests(ctx, spot{dir: t.dir, file: file, name: t.nameOf(t.dir.Join(file))})
				if err != nil {
					return nil, cause(err)
				}
				for _, doc := range docs {
					more := values{}
					fields, _ := doc.value.(map[string]any)
					for key, v := range fields {
						g.write.put(more, v, key)
					}
					if err := add(file, more); err != nil {
						return nil, err
					}
				}
			}
		}
		return out, nil
	}
	picked, err := g.directories(patterns(from, "directories"))
	if err != nil {
		return nil, err
	}
	for _, dir := range picked {
		if err := add(dir+"/", values{}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
