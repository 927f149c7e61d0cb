package render

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Items that are laid out side by side come in their order, each as it is by itself.
func TestItemTexts(t *testing.T) {
	shared := [][]view.Path{{{Gateway: "a/one"}}, {{Gateway: "a/two"}, {Gateway: "a/three"}}}
	for _, n := range []int{0, 1, worthSplitting - 1, worthSplitting, laidOutAtATime, laidOutAtATime + 1, 3*laidOutAtATime + worthSplitting} {
		items := make([]view.EffectivePolicy, n)
		for i := range items {
			items[i] = view.EffectivePolicy{ID: fmt.Sprint(i), Paths: shared[i%2], Spec: map[string]any{"n": int64(i)}}
		}
		all := func(yield func(any) bool) {
			for i := range items {
				if !yield(&items[i]) {
					return
				}
			}
		}
		var got []string
		newItems := func() *jsonItems { return newJSONItems("", true) }
		if err := eachItemText(all, newItems, func(text []byte) { got = append(got, string(text)) }); err != nil {
			t.Fatal(err)
		}
		var want []string
		for v := range all {
			alone := newItems()
			if err := alone.addItem(v); err != nil {
				t.Fatal(err)
			}
			want = append(want, string(alone.text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d items: %d texts, and not those of the items one by one", n, len(got))
		}
	}
}

// Of several items that cannot be written, the first is told.
func TestItemTextsFail(t *testing.T) {
	const bad = 3 * worthSplitting
	all := func(yield func(any) bool) {
		for i := range laidOutAtATime {
			if !yield(&broken{i, i >= bad}) {
				return
			}
		}
	}
	written := 0
	err := eachItemText(all, func() *jsonItems { return newJSONItems("", true) }, func([]byte) { written++ })
	var failed *brokenError
	if !errors.As(err, &failed) || failed.at != bad {
		t.Errorf("got %v", err)
	}
}

type broken struct {
	at  int
	bad bool
}

type brokenError struct{ at int }

func (e *brokenError) Error() string { return fmt.Sprint("item ", e.at) }

func (b *broken) MarshalJSON() ([]byte, error) {
	if b.bad {
		return nil, &brokenError{b.at}
	}
	return []byte("{}"), nil
}
