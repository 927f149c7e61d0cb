// Package fleet asks several clusters the same. The command line is run once for each, and the
// answers are written as one; commands are not aware of it.
package fleet
