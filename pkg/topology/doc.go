// Package topology builds the graph of targets: class → gateway → listener → route → rule → backend → port, namespaces beside.
//
// Build reads a snapshot once and decides which routes attach to which listeners (gatewayapi G8-G17) and which rules reach which
// backends (G32-G36). What follows from that is the graph: E14's levels are its edges, and a path that the Gateway API does not allow
// is not in it. Nothing is guessed: what cannot be judged has no edge, and a problem says so.
//
// Edges belong to a family, a named set of them: Traffic is what comes through Gateways, Mesh what comes to Services, All both.
//
// Build works in phases, each a type with the state that it alone needs, around the draft that all of them add to: gateways, backends, routes
// with what attaches them (tableWriter, bindings), portSharing, chains of delegation, and the extensions of vendors.
//
// The package exports more than 60 names because a graph is described in words: the roles of nodes, the states of attachments, the flaws of
// certificates and the settings are constants, and every question about a node has an answer of its own type.
package topology
