// Package schema judges custom resources by their CustomResourceDefinitions, as the API server does
// when they are created: with its own code for schemas, defaults, pruning and rules.
package schema
