// Package redaction takes the values out of an input before anything is computed, and says which
// answers are not known for want of them.
package redaction
