// Package sides reads the two sides of a comparison: how they are named, read, changed by files and
// deletions, and which snapshot of a folder stands for a time. It compares nothing.
package sides
