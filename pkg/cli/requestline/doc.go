// Package requestline reads a request as people write it, [METHOD] URL with flags or a curl
// command, with what is expected of the answer, and finds the answer in an input.
package requestline
