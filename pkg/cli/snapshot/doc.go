// Package snapshot is the command that saves a cluster to a file.
package snapshot
