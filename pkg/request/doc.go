// Package request finds the listener, route and rule that a given request hits, and says why: the
// comparisons that decided against every other rule that matches, and what no manifest can tell.
//
// It exports more than 60 names: every outcome, every part of a request that a rule may look at and
// every way of comparing it has one.
package request
