// Package space splits the requests that come to Gateways into classes that no rule tells apart,
// and asks what becomes of each: what holds for every class holds for every request. A class that
// it cannot tell apart is unknown, and says why.
//
// The split is lazy. Hosts are told apart first, by the hostnames of listeners and routes; then
// paths, by the matches that compete for the host; then, one after the other, only those parts of a
// request that a match looks at that may still win.
package space
