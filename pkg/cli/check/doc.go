// Package check is the command that reports findings, with its subcommands: the tests of
// requirements, and what requirements do not notice.
package check
