package topology

import "testing"

// A set tells what is in it, however much that is, and is empty when it was emptied.
func TestFew(t *testing.T) {
	var set few[int]
	for _, n := range []int{1, 16, 17, 100} {
		set.clear()
		for k := range n {
			if set.has(k) {
				t.Errorf("of %d: %d is there before it was added", n, k)
			}
			if !set.add(k) || set.add(k) {
				t.Errorf("of %d: %d is not added once", n, k)
			}
		}
		if set.n != n || !set.has(0) || !set.has(n-1) || set.has(n) {
			t.Errorf("of %d: %d are there", n, set.n)
		}
	}
}
