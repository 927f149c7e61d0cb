// Package request is the command that shows what becomes of a request, or of a connection.
package request
