package collect

import (
	"math/rand"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// A value is looked into for references the same way whether it is packed, plain or something of
// both.
func TestReferencesAreFoundInPackedValues(t *testing.T) {
	found := 0
	for seed := range 2000 {
		random := rand.New(rand.NewSource(int64(seed)))
		v := referring(random, 0)
		want := len(findBareReferences(merge.Unpack(v))) > 0
		if got := hasBareReference(v); got != want {
			t.Fatalf("seed %d: %v: refers %v, want %v", seed, merge.Unpack(v), got, want)
		}
		if want {
			found++
		}
	}
	if found < 200 || found > 1800 {
		t.Errorf("%d of 2000 values refer to something", found)
	}
}

func referring(random *rand.Rand, depth int) any {
	var v any
	switch n := random.Intn(6); {
	case depth == 4 || n == 0:
		return "text"
	case n == 1:
		v = []any{referring(random, depth+1), referring(random, depth+1)}
	case n == 2:
		v = map[string]any{"secretRef": map[string]any{"name": "hidden"}}
	case n == 3:
		v = map[string]any{"secretRef": map[string]any{"name": "known", "namespace": "here"}, "name": "x"}
	default:
		v = map[string]any{"a": referring(random, depth+1), "bRef": referring(random, depth+1)}
	}
	if random.Intn(3) == 0 {
		return model.Pack(v, nil)
	}
	return v
}
