// Package topology is the graph of targets: class → gateway → listener → route → rule → backend →
// port, namespaces beside, and every look-up in it.
//
// What follows from the Gateway API is the graph: E14's levels are its edges, and a path that the
// Gateway API does not allow is not in it. Edges belong to a family, a named set of them: Traffic
// is what comes through Gateways, Mesh what comes to Services, All both.
//
// The package does not read manifests and decides nothing: package build does, and hands over
// Parts. It exports many names because a graph is described in words: the roles of nodes and the
// states of attachments are constants, and every question about a node has an answer of its own
// type.
package topology
