// Package publish makes reports of what shapes the routes of a namespace, for people who may read
// nothing else, and reads such reports again.
//
// A report names policies: kind, name, namespace, owner, where they are set, what became of them
// and why. It has no value of a setting unless its kind was asked for, nothing about routes of
// other namespaces, and none of the sentences that findings are told in, which may repeat both.
package publish
