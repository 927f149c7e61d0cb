// Package graph draws the topology of an input, with its policies and the paths of requests, and
// collapses it to what can be read.
package graph
