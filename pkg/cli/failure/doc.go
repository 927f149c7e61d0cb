// Package failure has the errors in which commands end: wrong usage, no answer, findings. It says
// what is printed of an error; which exit code it becomes is decided in pkg/cli.
package failure
