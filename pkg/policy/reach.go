package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Reach is where the policies of a kind hold.
type Reach struct {
	Effective    []topology.Role
	Routes       []model.GroupKind // whose rules the kind has results at; sorted
	Family       string
	Local        bool // a policy holds at its target alone, and at nothing below it
	ListenerSets ListenerSets
	Step         StepMaker // nil: every step that the Gateway API allows
	Voids        []VoidFunc
}

// HasResultsAt reports whether the kind has results at nodes of the role.
func (k *Reach) HasResultsAt(role topology.Role) bool { return slices.Contains(k.Effective, role) }

// PassesRoutes reports whether policies of the kind from above hold for what comes through routes
// of a kind. A policy about HTTP requests means nothing to the connections of a TCPRoute. A kind
// without results at routes or rules does not care what leads to its targets.
func (k *Reach) PassesRoutes(route model.GroupKind) bool {
	return slices.Contains(k.Routes, route) || !k.HasResultsAt(topology.Rule) && !k.HasResultsAt(topology.Route)
}

// HasResultsAtNode reports whether the kind has results at a node: it does at those of its roles,
// of routes and rules only at those of the kinds of routes that are its business, and at opaque
// nodes.
func (k *Reach) HasResultsAtNode(n *topology.Node) bool {
	switch n.Role {
	case topology.Opaque:
		return true
	case topology.Route, topology.Rule:
		return !n.Delegates && k.HasResultsAt(n.Role) && slices.Contains(k.Routes, n.Ref.GroupKind())
	}
	return k.HasResultsAt(n.Role)
}

// ListenerSets says at the listeners of which ListenerSets a kind has results.
type ListenerSets string

// The ways with ListenerSets.
const (
	AttachedSets ListenerSets = "taken" // of those that their Gateway takes, because no traffic comes to others
	AllSets      ListenerSets = "named" // of all, with a problem about those that are not taken
	NoSets       ListenerSets = "none"  // the implementation does not know them
)

// StepFunc judges one step of a path, from a node to one below it: nil if the vendor recognises it,
// else why not.
type StepFunc func(g *topology.Graph, parent, child topology.NodeID) *model.Problem

// StepMaker prepares what judges the steps of paths. It is called once, for all policies of a kind.
type StepMaker func(g *topology.Graph, in *model.Snapshot) StepFunc

// VoidFunc says why nothing of a kind is in force at a node and below it, whatever policies there
// are: the implementation serves something else there. Nil: it does not.
type VoidFunc func(g *topology.Graph, id topology.NodeID) *model.Problem
