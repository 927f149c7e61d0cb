// Package view answers one question each, as plain structs whose JSON tags are the public contract.
//
// A view is computed from a Resolution, holds no reference to it, and says in its envelope how
// complete it is. For people every view reduces to a Table and, where a picture makes sense, to a
// Topology.
//
// The package exports more than 60 names because every object of the JSON contract is a type, and
// every word of it that is one of several a constant.
package view
