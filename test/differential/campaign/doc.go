// Package campaign is what comparisons of the program with others over many random inputs have in common: their flags, the seeds that several workers
// share, classes of differences, and deliberate faults.
package campaign
