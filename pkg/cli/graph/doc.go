// Package graph is the command that draws targets, policies and where these are in force.
package graph
