// Package prove is the command that proves that every request meets a policy, or shows one that
// does not.
package prove
