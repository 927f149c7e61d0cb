package metric

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sumOf adds up the series of a family.
func sumOf(f Family) (out int64) {
	for _, s := range f.Series {
		out += s.Value
	}
	return out
}

// valuesOf returns the different values of a label.
func valuesOf(f Family, label string) []string {
	var out []string
	for _, s := range f.Series {
		out = append(out, s.Values[slices.Index(f.Labels, label)])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestBound: however many values there are, a family has few series, their sum is what was counted,
// and what is counted most keeps its name.
func TestBound(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		namespaces, kinds, ids := 1+r.IntN(4000), 1+r.IntN(300), 1+r.IntN(400)
		a, b := NewCounter("a", "A.", Namespace, Kind, "state"), NewCounter("b", "B.", Namespace, ID)
		for range 1 + r.IntN(30000) {
			a.Add(r.IntN(3), fmt.Sprint("ns", r.IntN(namespaces)), fmt.Sprint("Kind", r.IntN(kinds)), fmt.Sprint(r.IntN(5)))
			b.Add(1, fmt.Sprint("ns", r.IntN(namespaces)), fmt.Sprint("ID", r.IntN(ids)))
		}
		b.Add(100_000, "busy", "Often")
		families := []Family{a.Family(), b.Family()}
		bounded := Bound(families)
		for i, f := range bounded {
			if len(f.Series) > MaxSeries || sumOf(f) != sumOf(families[i]) {
				t.Errorf("seed %d: %s has %d series that sum up to %d, not to %d", seed, f.Name, len(f.Series), sumOf(f),
					sumOf(families[i]))
			}
			for label, limit := range maxValues {
				if slices.Contains(f.Labels, label) && len(valuesOf(f, label)) > limit+1 {
					t.Errorf("seed %d: %s has %d values of %s", seed, f.Name, len(valuesOf(f, label)), label)
				}
			}
			if !slices.IsSortedFunc(f.Series, func(a, b Series) int { return slices.Compare(a.Values, b.Values) }) {
				t.Errorf("seed %d: %s is not sorted", seed, f.Name)
			}
		}
		if !slices.Contains(valuesOf(bounded[1], Namespace), "busy") {
			t.Errorf("seed %d: the namespace that is counted most has no series", seed)
		}
	}
}

// TestFewSeriesStayAsTheyAre, and in the same order however they were counted.
func TestFewSeriesStayAsTheyAre(t *testing.T) {
	c := NewCounter("a", "A.", Namespace, Kind)
	c.Add(2, "shop", "B")
	c.Add(1, "app", "A")
	c.Add(0, "app", "B")
	c.Add(1, "shop", "B")
	f := c.Family()
	want := "[{[app A] 1} {[app B] 0} {[shop B] 3}]"
	if got := fmt.Sprint(Bound([]Family{f})[0].Series); got != want {
		t.Errorf("bounded %s, want %s", got, want)
	}
	if got := fmt.Sprint(Join([]Family{f}, []Family{f})[0].Series); got != "[{[app A] 2} {[app B] 0} {[shop B] 6}]" {
		t.Errorf("joined %s", got)
	}
}

// TestUnfitValues: what acts on a terminal or a CI runner, and what is too long, is no label.
func TestUnfitValues(t *testing.T) {
	c := NewCounter("a", "A.", Namespace)
	for _, name := range []string{"a\nb", "a\x1b[31m", "\u202eevil", "##teamcity[x]", "\xff", "\u200b", "\ufffd",
		strings.Repeat("a", maxValueLength+1)} {
		c.Add(1, name)
	}
	c.Add(1, `say "hi" \`)
	f := Bound([]Family{c.Family()})[0]
	if got, want := fmt.Sprint(f.Series), `[{[_other] 8} {[say "hi" \] 1}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
