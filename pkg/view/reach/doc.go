// Package reach answers where a policy is in force, and what became of it elsewhere.
package reach
