// Package source reads the input of a command: manifests, a cluster, or both, and dumps of proxies.
// It has the flags that name the input, and finds what words of the command line mean in it:
// targets, policies, kinds, namespaces, properties. It asks no question about policies and writes
// no answer.
package source
