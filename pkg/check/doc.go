// Package check judges an input: it gathers what every package finds wrong in it and what was
// demanded of it (findings), each under a stable id that the catalogue documents, and decides what
// counts.
package check
