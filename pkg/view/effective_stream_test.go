package view

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// Items that are made while they are written are those of the list, however many are made at a time; and what no later item needs is dropped.
func TestStreamedItemsAreThoseOfTheList(t *testing.T) {
	shared := false
	for seed := range uint64(60) {
		docs := drawn{Rand: rand.New(rand.NewPCG(seed, 1))}.input()
		query := Query{ShowNone: seed%3 == 0}
		want := Effective(sideOf(t, docs).Resolution, query)
		for _, atATime := range []int{1, 2, 7, 1000} {
			got := StreamEffective(sideOf(t, docs).Resolution, query)
			got.items.batchSize = atATime
			whole, seen := *got.Head, map[string]bool{}
			for item := range got.items.eachItem {
				whole.Items = append(whole.Items, *item)
				shared = shared || seen[item.ID]
				seen[item.ID] = true
			}
			if written(t, &whole) != written(t, want) {
				t.Fatalf("seed %d, %d at a time:\n%s\nwant\n%s", seed, atATime, written(t, &whole), written(t, want))
			}
			if kept := got.items.collector.keptAnswers(); kept > 0 {
				t.Fatalf("seed %d: %d answers are kept", seed, kept)
			}
		}
	}
	if !shared {
		t.Error("no two items have the same policies: the test shows nothing")
	}
}

// A question about some targets is answered alike as well.
func TestStreamedItemsOfTargets(t *testing.T) {
	docs := drawn{Rand: rand.New(rand.NewPCG(7, 1))}.input()
	one := func(in DiffInput) (q Query) {
		for _, item := range Effective(in.Resolution, Query{}).Items[:3] {
			q.Targets = append(q.Targets, in.Resolution.Graph.Lookup(item.Target)...)
		}
		return q
	}
	a, b := sideOf(t, docs), sideOf(t, docs)
	want, got := Effective(a.Resolution, one(a)), StreamEffective(b.Resolution, one(b))
	if len(want.Items) == 0 || got.Empty() {
		t.Fatal("nothing is in force at the targets")
	}
	whole := *got.Head
	whole.Items = got.items.buildAll()
	if written(t, &whole) != written(t, want) {
		t.Errorf("got %s\nwant %s", written(t, &whole), written(t, want))
	}
}

func written(t *testing.T, l *EffectivePolicyList) string {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
