// Package matrix answers for every route rule who governs it, by policy kind, and what its requests
// are protected by.
package matrix
