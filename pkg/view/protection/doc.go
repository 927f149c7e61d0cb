// Package protection answers which properties hold for the requests to route rules, such as
// authentication, and reports what is odd about it.
package protection
