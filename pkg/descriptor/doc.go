// Package descriptor reads what describes policy kinds: kinds.yaml of the vendors and of users, in
// one schema.
//
// NewCatalog reads files into a Catalog: the described kinds, the settings of the vendors and what
// they say about objects that are no policies. A document may extend another one, and have variants
// for settings, and dialects for controllers; both are applied to the YAML nodes (variant.go,
// dialect.go), so that one kind is read at a time, by one reader for each part of it (read_*.go).
// What a document calls {func: NAME} is one of Functions. Catalog.Discover adds the kinds of an
// input that nobody describes, read as GEP-713 says (generic.go).
package descriptor
