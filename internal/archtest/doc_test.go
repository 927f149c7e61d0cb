// Package archtest holds the rules of docs/architecture.md that the compiler cannot keep: which
// package may import which, which packages never touch the outside world, and what no package may
// say or do. It has tests only.
package archtest
