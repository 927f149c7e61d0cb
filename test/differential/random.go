package main

import "github.com/dopolicy/kubectl-dopolicy/test/differential/draw"

// drawing is an input in the making.
type drawing struct {
	draw.Source
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
	out := g.Made(namespace, name)
	if g.Chance(percent) {
		out["labels"] = object{"tier": draw.Pick(g.Source, "a", "b")}
	}
	return out
}
