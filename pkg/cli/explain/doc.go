// Package explain is the command that shows how policies were merged, step by step.
package explain
