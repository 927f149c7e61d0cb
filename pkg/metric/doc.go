// Package metric counts what answers say as gauges for Prometheus. Their labels say where and of
// what kind something is, never what it is called; how many series there can be is bounded.
package metric
