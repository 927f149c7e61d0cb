// Package effective is the command that shows the policies in force on route rules.
package effective
