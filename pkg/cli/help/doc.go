// Package help writes the help of commands: the commands in groups, and of one command its own
// flags before those that all have.
package help
