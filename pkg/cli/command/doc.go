// Package command is what commands about targets have in common: the flags of a query, the number
// of arguments, and asking again whenever the cluster changes.
package command
