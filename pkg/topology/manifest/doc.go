// Package manifest reads the fields of manifests, and says what is wrong with one and where. It
// knows types of fields, not what they mean for traffic.
package manifest
