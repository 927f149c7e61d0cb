package load

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Objects are in the order of their references and places, whatever their names begin with.
func TestSortObjects(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"", "a", "a\x00", "ab", "route-1", "route-10", "route-2", "route-2-of-a-long-name", "route-2-of-a-long-nest", "ü", "z"}
	word := func() string { return words[random.IntN(len(words))] }
	for range 200 {
		objects := make([]*model.Object, random.IntN(100))
		for i := range objects {
			objects[i] = &model.Object{
				Ref:    model.Ref{Group: words[random.IntN(2)], Kind: "Route", Namespace: words[random.IntN(2)], Name: word() + word()},
				Origin: model.Origin{File: "a.yaml", Line: random.IntN(3)},
			}
		}
		want := slices.Clone(objects)
		slices.SortStableFunc(want, func(a, b *model.Object) int {
			return cmp.Or(a.Ref.Compare(b.Ref), a.Origin.Compare(b.Origin))
		})
		sortObjects(objects)
		for i := range want {
			if got, want := fmt.Sprint(objects[i].Ref, objects[i].Origin), fmt.Sprint(want[i].Ref, want[i].Origin); got != want {
				t.Fatalf("%d: %q, want %q", i, got, want)
			}
		}
	}
}
