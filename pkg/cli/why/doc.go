// Package why is the command that says where the status of an answer may come from.
package why
