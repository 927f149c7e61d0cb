// Package spelling answers how similar two texts are: whether a path or a host may be a slip for
// another.
package spelling
