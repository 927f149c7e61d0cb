// Package canarytest puts a text that occurs nowhere else into every field of every object that a
// policy may come from, and looks for it in what --redact lets out.
package canarytest
