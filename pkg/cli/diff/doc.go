// Package diff is the command that compares the policies in force, or what requests get, on two
// sides.
package diff
