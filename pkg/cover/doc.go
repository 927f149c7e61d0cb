// Package cover finds what requirements do not notice: it takes policies, settings, references and
// route rules out of an input one by one, in memory, and asks the requirements about what is left.
package cover
