// Package reach is the command that shows where a policy is in force, and where not.
package reach
