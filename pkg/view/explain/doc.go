// Package explain answers how the policies at a target were merged, step by step.
package explain
