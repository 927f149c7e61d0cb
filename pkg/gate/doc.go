// Package gate has the vocabulary of protection: the properties of requests, the verdicts and the
// reasons that answers name, and the rules by which descriptors say which settings of a policy kind
// establish a property. It judges nothing; pkg/protect does.
package gate
