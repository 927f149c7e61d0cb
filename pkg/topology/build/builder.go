package build

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Linker tells a graph that is about to be built what an implementation has beyond the Gateway API.
type Linker func(b *Builder)

// Builder is a graph that is about to be built.
type Builder struct {
	settings        model.Settings
	implementations []Implementation
	sharedPorts     []SharedPorts
	delegations     []Delegation
	numberedPorts   map[model.GroupKind]bool                  // whose ports are those that rules send to
	sections        map[model.GroupKind]topology.SectionsFunc // whose parts policies can be for
	extensions      []Extension
	makerFuncs      []func(in *model.Snapshot, made func(object, by model.Ref))
	omitterFuncs    []func(in *model.Snapshot, omit func(model.Omission))
	backendKinds    []model.GroupKind      // of implementations
	foreignHosts    []func(model.Ref) bool // tell references to backends that name no object
	parents         []ParentRules
	routeAliases    []topology.RouteAlias
}

// newBuilder returns the builder to which the linkers have added implementations.
func newBuilder(settings model.Settings, linkers []Linker) *Builder {
	b := &Builder{settings: settings, numberedPorts: map[model.GroupKind]bool{}}
	for _, link := range linkers {
		link(b)
	}
	return b
}
