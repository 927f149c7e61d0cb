// Package localfile reads and writes files that people name or write by hand, within bounds, and
// finds the files that a folder or a pattern stands for. What is in them is not its concern.
package localfile
