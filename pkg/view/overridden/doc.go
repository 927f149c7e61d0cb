// Package overridden answers which settings of policies lost, where, and to whom.
package overridden
