// Package redact takes out of objects what may not leave the cluster.
//
// Policy keeps the names of a policy's settings and drops their values; Object keeps what is harmless of any object; WithoutInline drops only data
// that stands where a Secret could. Whatever is not known to be harmless is left out.
package redact
