package load

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// role is what a text in a kustomization is to the library.
type role int

const (
	asObjects   role = iota // path of a file of objects, or of a kustomization
	asComponent             // path of a component
	asConfig                // path of a YAML file
	asCRDs                  // path of a file of OpenAPI definitions
	asData                  // [KEY=]PATH of any file
	asEnv                   // path of a file of KEY=VALUE lines
	asLiteral               // KEY=VALUE
	asInline                // YAML
	asPatch                 // YAML, else the path of a YAML file
	asPlugin                // YAML that configures generators or transformers, else the path of a file or folder of such
	asChart                 // whatever inflates a chart
)

// entry is a text in a kustomization, or in the configuration of a built-in generator or transformer.
type entry struct {
	role  role
	in    *kustomization // paths count from its folder
	at    model.Origin   // where the text is written
	field string         // the field it is written in
	text  string
}

// refuse is the error that ends the walk at e.
func (e entry) refuse(hint, format string, args ...any) error {
	return &Error{What: e.at.String(), Err: errors.New(e.field + ": " + fmt.Sprintf(format, args...)), Hint: hint}
}

// remote is refuse for what would have to be fetched.
func (e entry) remote(address string) error {
	return e.refuse("download it and name the copy; if it is a path, write ./ in front", "%s is remote, and nothing is fetched", address)
}

// uninflated is refuse for a chart.
func (e entry) uninflated() error {
	return e.refuse("give --enable-helm, or "+buildHint, "charts are not inflated")
}

// entries collects what a kustomization names.
type entries struct {
	of   *kustomization
	list []entry
}

// add adds the text at a path of the kustomization file, which begins with a field.
func (l *entries) add(r role, text string, at ...string) {
	l.list = append(l.list, entry{role: r, in: l.of, at: model.Origin{File: l.of.file.name, Line: l.of.doc.lineOf(at...)}, field: at[0], text: text})
}

// given adds the text unless it is empty, as optional fields may be.
func (l *entries) given(r role, text string, at ...string) {
	if text != "" {
		l.add(r, text, at...)
	}
}

// all adds every text of a list.
func (l *entries) all(r role, texts []string, at ...string) {
	for i, text := range texts {
		l.add(r, text, append(slices.Clone(at), strconv.Itoa(i))...)
	}
}

// entries lists what k names, in the order in which the library looks at it.
func (k *kustomization) entries() []entry {
	l := &entries{of: k}
	if len(k.HelmCharts) > 0 {
		l.add(asChart, "", "helmCharts")
	}
	if len(k.HelmChartInflationGenerator) > 0 {
		l.add(asChart, "", "helmChartInflationGenerator")
	}
	l.given(asConfig, k.OpenAPI["path"], "openapi", "path")
	l.all(asObjects, k.Resources, "resources")
	//lint:ignore SA1019 it is still built
	l.all(asObjects, k.Bases, "bases")
	l.all(asConfig, k.Configurations, "configurations")
	l.all(asCRDs, k.Crds, "crds")
	for i, g := range k.ConfigMapGenerator {
		l.pairs(g.KvPairSources, "configMapGenerator", i)
	}
	for i, g := range k.SecretGenerator {
		l.pairs(g.KvPairSources, "secretGenerator", i)
	}
	l.all(asPlugin, k.Generators, "generators")
	l.all(asComponent, k.Components, "components")
	//lint:ignore SA1019 it is still built
	for i, p := range k.PatchesStrategicMerge {
		l.add(asPatch, string(p), "patchesStrategicMerge", strconv.Itoa(i))
	}
	l.patches(k.Patches, "patches")
	//lint:ignore SA1019 it is still built
	l.patches(k.PatchesJson6902, "patchesJson6902")
	for i, r := range k.Replacements {
		l.given(asConfig, r.Path, "replacements", strconv.Itoa(i), "path")
	}
	l.all(asPlugin, k.Transformers, "transformers")
	l.all(asPlugin, k.Validators, "validators")
	return l.list
}

// pairs adds what the ith ConfigMap or Secret is made of.
func (l *entries) pairs(from types.KvPairSources, field string, i int) {
	at := strconv.Itoa(i)
	l.all(asEnv, from.EnvSources, field, at, "envs")
	l.given(asEnv, from.EnvSource, field, at, "env")
	l.all(asLiteral, from.LiteralSources, field, at, "literals")
	l.all(asData, from.FileSources, field, at, "files")
}

func (l *entries) patches(list []types.Patch, field string) {
	for i, p := range list {
		l.given(asConfig, p.Path, field, strconv.Itoa(i), "path")
		l.given(asInline, p.Patch, field, strconv.Itoa(i), "patch")
	}
}
