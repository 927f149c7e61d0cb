// Package schema reads custom resources as the API server would hand them on, by their
// CustomResourceDefinitions: with the server's own code for schemas, defaults, pruning and rules.
// An Admission does it to all objects of an input; a Catalogue has the definitions that come with
// the program.
package schema
