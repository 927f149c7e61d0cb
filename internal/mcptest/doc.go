// Package mcptest asks the program by the Model Context Protocol, with a client of the protocol's own library.
package mcptest
