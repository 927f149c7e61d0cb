// Package history is the command that shows when the policies of a route changed, and by which
// object.
package history
