// Package viewer is for answers that are looked at: it finds what draws pictures, and opens a file
// in the default program.
package viewer
