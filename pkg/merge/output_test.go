package merge

import (
	"reflect"
	"testing"
)

func TestOutput(t *testing.T) {
	var o Output
	o.Take(KeyPath("a"), 1, 2, 0, 2)
	o.Lose(KeyPath("b"), 2, 1, NoEffect, 2)
	two, none, one := Source{Layer: 2, Block: Bare}, Source{Block: Bare}, Source{Layer: 1, Block: Bare}
	if want := []Unit{{Path: KeyPath("a"), Value: 1, From: []Source{two, none}}}; !reflect.DeepEqual(o.Units, want) {
		t.Errorf("%v is in force, want %v", o.Units, want)
	}
	want := []Effect{
		{Path: KeyPath("a"), Rule: "a", Value: 1, From: []Source{two}, Action: Taken},
		{Path: KeyPath("a"), Rule: "a", Value: 1, From: []Source{none}, Action: Taken},
		{Path: KeyPath("b"), Rule: "b", Value: 2, From: []Source{one}, Action: Dropped, Reason: NoEffect,
			Other: []Source{two}}}
	if !reflect.DeepEqual(o.Effects, want) {
		t.Errorf("the effects are %v, want %v", o.Effects, want)
	}
}
