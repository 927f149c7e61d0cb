// Package overridden is the command that shows which settings were overridden, and by whom.
package overridden
