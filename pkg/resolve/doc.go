// Package resolve attaches policies to the graph, walks every path and folds: Snapshot in,
// Resolution out.
//
// It works per policy kind. A node's contexts are the distinct stacks of policies with which
// traffic can reach it; a stack is interned as (the stack above, the node that adds policies), so a
// node that adds none shares the stacks of its parents, and equal stacks are folded once (engine
// E12). Paths are not walked at all: they are read back from the contexts when a view prints them.
package resolve
