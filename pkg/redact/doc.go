// Package redact takes out of objects what may not leave the cluster.
//
// Policy keeps the names of a policy's settings and drops their values; of all other objects stays
// what Kept, a table, names. Whatever it does not name is left out.
package redact
