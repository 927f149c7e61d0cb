// Package diff answers how the effective policies of two inputs differ, and what route rules are
// protected by in them. It compares policies, not requests.
package diff
