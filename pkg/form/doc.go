// Package form reads files that people write in a fixed form: descriptors of policy kinds,
// requirements and their tests.
//
// A Source is split into documents, and a Reader walks their YAML nodes: Object takes one function
// for each field that there may be, and functions such as Text, Path and Word put what they read
// where the caller says. Unknown fields are mistakes, because a typing error must not silently
// change an answer. A mistake ends nothing; Err tells all of a file at once, each with its line.
package form
