package merge

import (
	"fmt"
	"math/rand"
	"testing"
)

// TestFewRulesAreFoundLikeMany: comparing rules one by one finds what the table finds.
func TestFewRulesAreFoundLikeMany(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	path := func() Path {
		p := make(Path, random.Intn(4))
		for i := range p {
			p[i] = Segment{Name: []string{"a", "b", "ab"}[random.Intn(3)], Form: Form(random.Intn(2))}
		}
		return p
	}
	met := map[string]int{}
	for range 5000 {
		few := written{}
		for range random.Intn(6) {
			few.rules = append(few.rules, Unit{Path: path()})
		}
		many := written{rules: few.rules, at: map[string]int{}}
		for i := range many.rules {
			many.at[many.rules[i].Path.code()] = i
		}
		p := path()
		code := p.code()
		got, want := few.around(code), many.around(code)
		if got != want {
			t.Fatalf("%v among %v: %d, want %d", p, few.rules, got, want)
		}
		switch {
		case got < 0:
			met["none"]++
		case len(few.rules[got].Path) == len(p):
			met["the same"]++
		default:
			met["above"]++
		}
	}
	if len(met) != 3 {
		t.Error(fmt.Sprint(met))
	}
}
