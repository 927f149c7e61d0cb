// Package mcp serves the answers of other commands to programs that speak the Model Context Protocol. A tool is a
// command: its arguments become a command line, which runs in this process, and its result is the JSON that the
// command prints, a page at a time. Nothing else is computed here.
package mcp
