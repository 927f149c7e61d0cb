package effective

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Items that are made while they are written are those of the list, however many are made at a
// time; and what no later item needs is dropped.
func TestStreamedItemsAreThoseOfTheList(t *testing.T) {
	shared := false
	for seed := range uint64(60) {
		docs := viewtest.Generator{Rand: rand.New(rand.NewPCG(seed, 1))}.Input()
		query := view.Query{ShowNone: seed%3 == 0}
		want := List(viewtest.Resolve(t, docs).Resolution, query)
		for _, atATime := range []int{1, 2, 7, 1000} {
			got := Stream(viewtest.Resolve(t, docs).Resolution, query)
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
			if kept := got.items.collector.KeptAnswers(); kept > 0 {
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
	docs := viewtest.Generator{Rand: rand.New(rand.NewPCG(7, 1))}.Input()
	one := func(in view.Input) (q view.Query) {
		for _, item := range List(in.Resolution, view.Query{}).Items[:3] {
			q.Targets = append(q.Targets, in.Resolution.Graph.Lookup(item.Target)...)
		}
		return q
	}
	a, b := viewtest.Resolve(t, docs), viewtest.Resolve(t, docs)
	want, got := List(a.Resolution, one(a)), Stream(b.Resolution, one(b))
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
