// Package plugin is what a vendor package hands over, and the catalogue made of it.
package plugin

import "github.com/dopolicy/kubectl-dopolicy/pkg/policy"

// Plugin is one vendor: its name and its descriptor file.
type Plugin struct {
	Name  string
	Kinds []byte
}

// Catalog reads the descriptors of the vendors and the user's own, which replace them, and the chosen settings (NAME=VALUE texts).
// Errors are *policy.DescriptorError or *policy.SettingError.
func Catalog(plugins []Plugin, user []policy.Source, settings []string) (*policy.Catalog, error) {
	var builtin []policy.Source
	for _, p := range plugins {
		builtin = append(builtin, policy.Source{Name: p.Name + "/kinds.yaml", Text: p.Kinds})
	}
	return policy.NewCatalog(builtin, user, settings)
}
