// Package status predicts the conditions that each policy should report, and those of the objects
// that policies attach to.
//
// What became of a policy is counted once, over all contexts, as its Fate. From it either the
// descriptor's words make the usual conditions (gep713 P34-P37), or a vendor's Writer makes its
// own.
package status
