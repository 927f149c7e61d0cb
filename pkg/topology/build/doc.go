// Package build makes the graph of a snapshot.
//
// Graph reads a snapshot once and decides which routes attach to which listeners (gatewayapi
// G8-G17) and which rules reach which backends (G32-G36). Nothing is guessed: what cannot be judged
// has no edge, and a problem says so.
//
// It works in phases, each a type with the state that it alone needs, around the draft that all of
// them add to: gateways, backends, routes with what attaches them, shared ports, chains of
// delegation, and the extensions of vendors. Builder is what vendors say before.
package build
