// Package model holds the nouns that every other package speaks of: references, origins, objects, snapshots, problems and settings.
//
// A Snapshot is the whole input of one run. It is built once, by package load, and never changed afterwards.
package model
