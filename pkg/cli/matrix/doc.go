// Package matrix is the command that shows who governs each route rule, and what is missing there.
package matrix
