package kustomize

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// entryRole is what a text in a kustomization is to the library.
type entryRole int

const (
	asObjects   entryRole = iota // path of a file of objects, or of a kustomization
	asComponent                  // path of a component
	asConfig                     // path of a YAML file
	asCRDs                       // path of a file of OpenAPI definitions
	asData                       // [KEY=]PATH of any file
	asEnv                        // path of a file of KEY=VALUE lines
	asLiteral                    // KEY=VALUE
	asInline                     // YAML
	asPatch                      // YAML, else the path of a YAML file
	// YAML that configures generators or transformers, else the path of a file or folder of such
	asPlugin
	asChart // whatever inflates a chart
)

// entry is a text in a kustomization, or in the configuration of a built-in generator or
// transformer.
type entry struct {
	role          entryRole
	kustomization *Kustomization // paths count from its folder
	origin        model.Origin   // where the text is written
	field         string         // the field it is written in
	text          string
}

// newRefusal returns the error that ends the walk at e.
func (e entry) newRefusal(hint, format string, args ...any) error {
	return &document.Error{What: e.origin.String(), Err: errors.New(e.field + ": " + fmt.Sprintf(format, args...)),
		Hint: hint}
}

// newRemoteRefusal returns the error for what would have to be fetched.
func (e entry) newRemoteRefusal(address string) error {
	return e.newNotDone("download it and name the copy; if it is a path, write ./ in front",
		"%s is remote, and nothing is fetched", address)
}

// newChartRefusal returns the error for a chart.
func (e entry) newChartRefusal() error {
	return e.newNotDone("give --enable-helm, or "+BuildHint, "charts are not inflated")
}

// newNotDone returns the error for what kustomize would do: fetch something, or run a program.
func (e entry) newNotDone(hint, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	return &document.Error{What: e.origin.String(), Err: &notDoneError{text: e.field + ": " + why, why: why}, Hint: hint}
}

// notDoneError says what is not done that kustomize would do.
type notDoneError struct {
	text, why string
	kinds     []model.GroupKind // of what it would make; nil: any
}

func (e *notDoneError) Error() string { return e.text }

// entryList collects what a kustomization names.
type entryList struct {
	kustomization *Kustomization
	entries       []entry
}

// addText adds the text at a path of the kustomization file, which begins with a field.
func (l *entryList) addText(r entryRole, text string, at ...string) {
	l.entries = append(l.entries, entry{role: r, kustomization: l.kustomization,
		origin: model.Origin{File: l.kustomization.file.Name, Line: l.kustomization.doc.LineOf(at...)},
		field:  at[0], text: text})
}

// addOptional adds the text unless it is empty, as optional fields may be.
func (l *entryList) addOptional(r entryRole, text string, at ...string) {
	if text != "" {
		l.addText(r, text, at...)
	}
}

// addAll adds every text of a list.
func (l *entryList) addAll(r entryRole, texts []string, at ...string) {
	for i, text := range texts {
		l.addText(r, text, append(slices.Clone(at), strconv.Itoa(i))...)
	}
}

// listEntries lists what k names, in the order in which the library looks at it.
func (k *Kustomization) listEntries() []entry {
	l := &entryList{kustomization: k}
	if len(k.HelmCharts) > 0 {
		l.addText(asChart, "", "helmCharts")
	}
	if len(k.HelmChartInflationGenerator) > 0 {
		l.addText(asChart, "", "helmChartInflationGenerator")
	}
	l.addOptional(asConfig, k.OpenAPI["path"], "openapi", "path")
	l.addAll(asObjects, k.Resources, "resources")
	//lint:ignore SA1019 it is still built
	l.addAll(asObjects, k.Bases, "bases")
	l.addAll(asConfig, k.Configurations, "configurations")
	l.addAll(asCRDs, k.Crds, "crds")
	for i, g := range k.ConfigMapGenerator {
		l.addPairSources(g.KvPairSources, "configMapGenerator", i)
	}
	for i, g := range k.SecretGenerator {
		l.addPairSources(g.KvPairSources, "secretGenerator", i)
	}
	l.addAll(asPlugin, k.Generators, "generators")
	l.addAll(asComponent, k.Components, "components")
	//lint:ignore SA1019 it is still built
	for i, p := range k.PatchesStrategicMerge {
		l.addText(asPatch, string(p), "patchesStrategicMerge", strconv.Itoa(i))
	}
	l.addPatches(k.Patches, "patches")
	//lint:ignore SA1019 it is still built
	l.addPatches(k.PatchesJson6902, "patchesJson6902")
	for i, r := range k.Replacements {
		l.addOptional(asConfig, r.Path, "replacements", strconv.Itoa(i), "path")
	}
	l.addAll(asPlugin, k.Transformers, "transformers")
	l.addAll(asPlugin, k.Validators, "validators")
	return l.entries
}

// addPairSources adds what the ith ConfigMap or Secret is made of.
func (l *entryList) addPairSources(from types.KvPairSources, field string, i int) {
	at := strconv.Itoa(i)
	l.addAll(asEnv, from.EnvSources, field, at, "envs")
	l.addOptional(asEnv, from.EnvSource, field, at, "env")
	l.addAll(asLiteral, from.LiteralSources, field, at, "literals")
	l.addAll(asData, from.FileSources, field, at, "files")
}

func (l *entryList) addPatches(list []types.Patch, field string) {
	for i, p := range list {
		l.addOptional(asConfig, p.Path, field, strconv.Itoa(i), "path")
		l.addOptional(asInline, p.Patch, field, strconv.Itoa(i), "patch")
	}
}

// NamedPaths returns the files and folders on disk that k names, those with values of its charts
// among them. What is remote is left out; the others need not be there.
func (k *Kustomization) NamedPaths() []string {
	entries := k.listEntries()
	for _, c := range k.HelmCharts {
		for _, file := range append(c.AdditionalValuesFiles, c.ValuesFile) {
			entries = append(entries, entry{role: asData, kustomization: k, text: file})
		}
	}
	var out []string
	for _, e := range entries {
		text := e.text
		switch e.role {
		case asLiteral, asInline, asChart:
			continue
		case asData:
			if _, file, found := strings.Cut(text, "="); found {
				text = file
			}
		}
		if text == "" || strings.Contains(text, "\n") || isRemote(text) {
			continue
		}
		if !filepath.IsAbs(text) {
			text = k.Dir.Join(text)
		}
		out = append(out, text)
	}
	return out
}
