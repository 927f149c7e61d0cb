// Package expression compiles and evaluates the CEL expressions of a run, so that none of them,
// whoever wrote it, takes long or much memory.
//
// Conditions are those under which a block of a policy holds; they share one budget, because a
// manifest may have many. Rules are those of an API, which an object meets or breaks. Whoever has
// an environment of its own makes it of Options, compiles with Compile and asks a Guard before it
// evaluates.
package expression
