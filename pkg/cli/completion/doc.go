// Package completion proposes words to a shell: the arguments of a command and the values of its
// flags, mostly from the input that the command itself would read.
package completion
