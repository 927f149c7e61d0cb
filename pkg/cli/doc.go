// Package cli is the command line: it puts the commands together, runs one of them, and turns what
// that comes to into an exit code. The commands are packages below it, one each; what they share is
// in run, failure, source, output, command and completion. Nothing below pkg/cli sees a flag.
package cli
