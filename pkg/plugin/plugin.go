// Package plugin is what a vendor package hands over, and the catalogue made of it.
package plugin

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// Plugin is one vendor: its name, its descriptor file, and the functions that the file names.
type Plugin struct {
	Name  string
	Kinds []byte
	Auto  map[string]policy.Auto
	Path  map[string]policy.Step
}

// Catalog reads the descriptors of the vendors and the user's own, which replace them, and the chosen settings (NAME=VALUE texts).
// Errors are *policy.DescriptorError or *policy.SettingError.
func Catalog(plugins []Plugin, user []policy.Source, settings []string) (*policy.Catalog, error) {
	var builtin []policy.Source
	funcs := policy.Functions{Auto: map[string]policy.Auto{}, Path: map[string]policy.Step{}}
	for _, p := range plugins {
		maps.Copy(funcs.Auto, p.Auto)
		maps.Copy(funcs.Path, p.Path)
		builtin = append(builtin, policy.Source{Name: p.Name + "/kinds.yaml", Text: p.Kinds})
	}
	return policy.NewCatalog(builtin, user, settings, funcs)
}
