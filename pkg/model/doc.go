// Package model holds the nouns that every other package speaks of: references, origins, objects,
// snapshots, problems and settings.
//
// A Snapshot is the whole input of one run. It is built once, by package load, and never changed
// afterwards.
//
// The package exports more than 60 names because the code of every problem is one.
package model
