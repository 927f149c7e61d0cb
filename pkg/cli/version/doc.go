// Package version is the command that prints the version.
package version
