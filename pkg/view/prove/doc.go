// Package prove decides whether a property holds for every request, and finds the smallest requests
// for which it does not.
package prove
