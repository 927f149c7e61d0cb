// Package policy describes policy kinds and decodes custom resources into ordered blocks of settings.
//
// A Kind is a checked descriptor: how a policy finds its targets, where its blocks and its strategy stand, what one rule is, in which
// order policies are compared. Descriptors are YAML (one schema for the built-in vendors and for users); kinds without one are
// generic (engine E15). A Policy is one custom resource, decoded by its Kind into layers for package merge.
package policy
