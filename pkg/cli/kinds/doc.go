// Package kinds is the command that lists policy kinds.
package kinds
