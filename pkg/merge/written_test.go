package merge

import (
	"math/rand"
	"testing"
)

// Where a path belongs does not depend on how many rules a block has.
func TestFewRulesAreFoundAsMany(t *testing.T) {
	for seed := range 2000 {
		r := rand.New(rand.NewSource(int64(seed)))
		path := func() Path {
			p := Path{}
			for range r.Intn(4) {
				p = p.below(Segment{Name: string(rune('a' + r.Intn(2)))})
			}
			return p
		}
		few := written{}
		for range r.Intn(6) {
			few.rules = append(few.rules, Unit{Path: path()})
		}
		many := written{few.rules, map[string]int{}}
		for i := range many.rules {
			many.at[many.rules[i].key()] = i
		}
		for range 10 {
			if code := path().code(); few.around(code) != many.around(code) {
				t.Fatalf("seed %d: %q is part of rule %d of %d, not %d", seed, code, many.around(code), len(few.rules), few.around(code))
			}
		}
	}
}
