package merge

import (
	"reflect"
	"testing"
)

func TestOutput(t *testing.T) {
	var o Output
	o.Take(Keys("a"), 1, 2, 0, 2)
	o.Lose(Keys("b"), 2, 1, NoEffect, 2)
	two, none, one := From{Layer: 2, Block: Bare}, From{Block: Bare}, From{Layer: 1, Block: Bare}
	if want := []Unit{{Path: Keys("a"), Value: 1, From: []From{two, none}}}; !reflect.DeepEqual(o.Units, want) {
		t.Errorf("%v is in force, want %v", o.Units, want)
	}
	want := []Effect{
		{Path: Keys("a"), Rule: "a", Value: 1, From: []From{two}, Action: Taken},
		{Path: Keys("a"), Rule: "a", Value: 1, From: []From{none}, Action: Taken},
		{Path: Keys("b"), Rule: "b", Value: 2, From: []From{one}, Action: Dropped, Reason: NoEffect, Other: []From{two}}}
	if !reflect.DeepEqual(o.Effects, want) {
		t.Errorf("the effects are %v, want %v", o.Effects, want)
	}
}
