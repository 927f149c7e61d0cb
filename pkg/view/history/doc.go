// Package history answers what changed over several snapshots, and by whose change.
package history
