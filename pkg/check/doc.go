// Package check judges an input: it gathers everything that is wrong in it or against what was asked for (findings), each under a stable
// id that the catalogue documents.
package check
