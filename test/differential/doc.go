// Command differential draws random inputs, has kubectl-dopolicy and a vendor's own code answer them, and reports every fact on which they
// disagree, reduced to a few lines. The vendor's code is a program of its own under peers, a module each, because their dependencies do not
// fit together; README.md says how to add one.
package main
