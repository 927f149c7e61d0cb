// Package workload answers for which pods an object stands: which objects of an input are
// workloads, and what their pods are to the network.
package workload
