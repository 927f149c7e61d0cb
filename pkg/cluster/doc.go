// Package cluster reads a running cluster into a Snapshot, and keeps it up to date: what the API
// server serves, lists of the kinds that matter, watches, port-forwards to pods, and the few
// objects that are written (reports). It does not know which policies there are: callers name the
// kinds, and say which definitions are those of policies.
package cluster
