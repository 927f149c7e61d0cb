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
	Step         Step // nil: every step that the Gateway API allows
	Voids        []Void
}

// Reaches reports whether the kind has results at nodes of the role.
func (k *Reach) Reaches(role topology.Role) bool { return slices.Contains(k.Effective, role) }

// Passes reports whether policies of the kind from above hold for what comes through routes of a kind. A policy about HTTP requests means
// nothing to the connections of a TCPRoute. A kind without results at routes or rules does not care what leads to its targets.
func (k *Reach) Passes(route model.GroupKind) bool {
	return slices.Contains(k.Routes, route) || !k.Reaches(topology.Rule) && !k.Reaches(topology.Route)
}

// ReachesNode reports whether the kind has results at a node: it does at those of its roles, of routes and rules only at those of the
// kinds of routes that are its business, and at opaque nodes.
func (k *Reach) ReachesNode(n *topology.Node) bool {
	switch n.Role {
	case topology.Opaque:
		return true
	case topology.Route, topology.Rule:
		return !n.Transit && k.Reaches(n.Role) && slices.Contains(k.Routes, n.Ref.GroupKind())
	}
	return k.Reaches(n.Role)
}

// ListenerSets says at the listeners of which ListenerSets a kind has results.
type ListenerSets string

// The ways with ListenerSets.
const (
	SetsTaken   ListenerSets = "taken" // of those that their Gateway takes, because no traffic comes to others
	SetsNamed   ListenerSets = "named" // of all, with a word about those that are not taken
	SetsUnknown ListenerSets = "none"  // the implementation does not know them
)

// Step judges one step of a path, from a node to one below it: nil if the vendor recognises it, else why not.
type Step func(g *topology.Graph, parent, child topology.NodeID) *model.Problem

// Void says why nothing of a kind is in force at a node and below it, whatever policies there are: the implementation serves something else
// there. Nil: it does not.
type Void func(g *topology.Graph, id topology.NodeID) *model.Problem
