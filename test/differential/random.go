package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// source draws what generators need. The same seed draws the same.
type source struct{ *rand.Rand }

func newSource(seed int64) source {
	return source{rand.New(rand.NewPCG(uint64(seed), 0x5d0))}
}

// chance is true in so many of a hundred cases.
func (s source) chance(percent int) bool { return s.IntN(100) < percent }

// between is a number from low to high, both included.
func (s source) between(low, high int) int { return low + s.IntN(high-low+1) }

// pick draws one of the entries.
func pick[T any](s source, of ...T) T { return of[s.IntN(len(of))] }

// some draws entries, at least one, in the order they are given.
func some[T any](s source, percent int, of ...T) []T {
	var out []T
	for _, x := range of {
		if s.chance(percent) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		out = append(out, pick(s, of...))
	}
	return out
}

// created draws a time of creation. Times repeat, so that names decide now and then.
func (s source) created() string {
	return time.Date(2025, 1, 1, 0, 0, s.IntN(4), 0, time.UTC).Format(time.RFC3339)
}

// made is the metadata of an object.
func (s source) made(namespace, name string) object {
	out := object{"name": name, "creationTimestamp": s.created()}
	if namespace != "" {
		out["namespace"] = namespace
	}
	return out
}

// numbered are names with the numbers from 1 to n.
func numbered(stem string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%d", stem, i+1))
	}
	return out
}

// drawing is an input in the making.
type drawing struct {
	source
	objects []object
	values  int // that were drawn
}

func (g *drawing) add(version, kind string, metadata, spec object) {
	g.objects = append(g.objects, object{"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})
}

// value is a number that no other value of the input is.
func (g *drawing) value() int {
	g.values++
	return g.values
}

// labelled is the metadata of an object that selectors may find, which so many of a hundred have a label for.
func (g *drawing) labelled(percent int, namespace, name string) object {
	out := g.made(namespace, name)
	if g.chance(percent) {
		out["labels"] = object{"tier": pick(g.source, "a", "b")}
	}
	return out
}
