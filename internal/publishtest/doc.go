// Package publishtest tests what published reports never have in them, and what is shipped for
// publishing from within a cluster.
package publishtest
