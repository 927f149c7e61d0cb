// Package cli is the command line: commands, flags, streams and exit codes. It turns strings into a typed question, loads, resolves,
// asks a view and hands it to render; nothing below it sees a flag.
package cli
