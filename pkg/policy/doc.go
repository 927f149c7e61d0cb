// Package policy has the nouns of policies.
//
// A Kind is a checked descriptor: how a policy finds its targets (Attachment), where there are
// results (Reach), what a policy says (Spec), in which order policies stand (Ordering), how they
// are folded (Folding), and what is wrong with one (Validity). A Policy is one custom resource,
// read by its Kind into blocks for package merge; an Attached is one at one of its targets, and
// Kind.Order puts several into their order, of which Kind.Decide tells why. Kinds are read by
// package descriptor, policies by package decode.
//
// It exports more than 60 names: a Kind holds the functions that vendors write for it, whose types
// name Kind, Policy and Attached, and the words of descriptors are constants here.
package policy
