// Package hostiletest runs the program on input that somebody wrote to harm whoever reads it: each
// run has to end soon, with little memory, and with an error that names the limit. SECURITY.md says
// who may write which input.
package hostiletest
