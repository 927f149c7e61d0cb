// Package draw draws the inputs of comparisons, writes them as manifests, and makes them smaller.
package draw

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Source draws what generators need. The same seed draws the same.
type Source struct{ *rand.Rand }

// NewSource is the source that a seed has.
func NewSource(seed int64) Source {
	return Source{rand.New(rand.NewPCG(uint64(seed), 0x5d0))}
}

// Chance is true in so many of a hundred cases.
func (s Source) Chance(percent int) bool { return s.IntN(100) < percent }

// Between is a number from low to high, both included.
func (s Source) Between(low, high int) int { return low + s.IntN(high-low+1) }

// Created draws a time of creation. Times repeat, so that names decide now and then.
func (s Source) Created() string {
	return time.Date(2025, 1, 1, 0, 0, s.IntN(4), 0, time.UTC).Format(time.RFC3339)
}

// Made is the metadata of an object.
func (s Source) Made(namespace, name string) Object {
	out := Object{"name": name, "creationTimestamp": s.Created()}
	if namespace != "" {
		out["namespace"] = namespace
	}
	return out
}

// Pick draws one of the entries.
func Pick[T any](s Source, of ...T) T { return of[s.IntN(len(of))] }

// Some draws entries, at least one, in the order they are given.
func Some[T any](s Source, percent int, of ...T) []T {
	var out []T
	for _, x := range of {
		if s.Chance(percent) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		out = append(out, Pick(s, of...))
	}
	return out
}

// Numbered are names with the numbers from 1 to n.
func Numbered(stem string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%d", stem, i+1))
	}
	return out
}
