package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// Linker tells a graph that is about to be built what an implementation has beyond the Gateway API.
type Linker func(b *Builder)

// Builder is a graph that is about to be built.
type Builder struct {
	settings        model.Settings
	implementations []Implementation
	shared          []SharedPorts
	delegations     []Delegation
	portless        map[model.GroupKind]bool       // whose ports are those that rules send to
	divided         map[model.GroupKind]SectionsOf // whose parts policies can be for
	extensions      []Extension
	makers          []func(in *model.Snapshot, made func(object, by model.Ref))
	parents         []Parents
	alike           []likeness
}
