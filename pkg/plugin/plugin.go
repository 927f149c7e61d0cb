// Package plugin is what a vendor package hands over, and the catalogue made of it.
package plugin

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Plugin is one vendor: its name, its descriptor file, and the functions that the file names.
type Plugin struct {
	Name  string
	Kinds []byte // the documents of its kinds.yaml as a JSON list
	Auto  map[string]policy.Auto
	Path  map[string]policy.Step

	Checks map[string]policy.Check
	Lints  map[string]policy.Lint
	Voids  map[string]policy.Void

	Discovers map[string]policy.Discovers
	Compare   map[string]policy.Comparator
	Status    status.Functions
	Links     []topology.Linker

	Plans      map[string]func(model.Settings) merge.PlanFunc
	Strategies map[string]policy.StrategyOf
	Combine    map[string]func(model.Settings) merge.Combine
	Normalize  map[string]policy.Normalizer
	Attach     map[string]policy.Attacher
	Builtins   map[string]policy.BuiltinOf
	policy.ScopeFunctions
}

// StatusFunctions are the status functions of all vendors, by name.
func StatusFunctions(plugins []Plugin) status.Functions {
	out := status.Functions{Writers: map[string]status.Writer{}, Boards: map[string]status.Board{}, Markers: map[string]status.Marker{}}
	for _, p := range plugins {
		maps.Copy(out.Writers, p.Status.Writers)
		maps.Copy(out.Boards, p.Status.Boards)
		maps.Copy(out.Markers, p.Status.Markers)
	}
	return out
}

// Catalog reads the descriptors of the vendors and the user's own, which replace them, and the chosen settings (NAME=VALUE texts).
// Errors are *policy.DescriptorError or *policy.SettingError.
func Catalog(plugins []Plugin, user []policy.Source, settings []string) (*policy.Catalog, error) {
	var builtin []policy.Source
	funcs := policy.Functions{Auto: map[string]policy.Auto{}, Path: map[string]policy.Step{}, Checks: map[string]policy.Check{}, Lints: map[string]policy.Lint{},
		Compare: map[string]policy.Comparator{}, Plans: map[string]func(model.Settings) merge.PlanFunc{}, Strategies: map[string]policy.StrategyOf{}, Combine: map[string]func(model.Settings) merge.Combine{},
		Normalize: map[string]policy.Normalizer{}, Attach: map[string]policy.Attacher{}, Builtins: map[string]policy.BuiltinOf{}, Voids: map[string]policy.Void{},
		Discovers: map[string]policy.Discovers{}, ScopeFunctions: policy.NoScopeFunctions()}
	for _, p := range plugins {
		maps.Copy(funcs.Auto, p.Auto)
		maps.Copy(funcs.Path, p.Path)
		maps.Copy(funcs.Checks, p.Checks)
		maps.Copy(funcs.Lints, p.Lints)
		maps.Copy(funcs.Voids, p.Voids)
		maps.Copy(funcs.Discovers, p.Discovers)
		maps.Copy(funcs.Compare, p.Compare)
		maps.Copy(funcs.Plans, p.Plans)
		maps.Copy(funcs.Strategies, p.Strategies)
		maps.Copy(funcs.Combine, p.Combine)
		maps.Copy(funcs.Normalize, p.Normalize)
		maps.Copy(funcs.Attach, p.Attach)
		maps.Copy(funcs.Builtins, p.Builtins)
		funcs.Add(p.ScopeFunctions)
		funcs.Writers = slices.AppendSeq(funcs.Writers, maps.Keys(p.Status.Writers))
		funcs.Writers = slices.AppendSeq(funcs.Writers, maps.Keys(p.Status.Boards))
		funcs.Markers = slices.AppendSeq(funcs.Markers, maps.Keys(p.Status.Markers))
		funcs.Links = append(funcs.Links, p.Links...)
		builtin = append(builtin, policy.Source{Name: p.Name + "/kinds.yaml", Text: p.Kinds, JSON: true})
	}
	return policy.NewCatalog(builtin, user, settings, funcs)
}
