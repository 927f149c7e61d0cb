// Package decode reads custom resources into policies, by the descriptions of their kinds.
//
// A Reader reads the objects of one kind. The body of an object is made what its controller sees
// (prepare), its references to targets are read, its settings are cut into the units of up to three
// blocks, and the validation of its API is repeated. What does not fit is a problem of the policy,
// and takes no part. A kind without a descriptor is read by the usual one; whatever may mean
// something else is noted as a doubt (guess).
package decode
