package cli

import "testing"

func TestMostGrowth(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name             string
		used, read, want int64
	}{
		{"a run that has just begun", 20 * mb, 0, minimumHeap},
		{"a small input that takes much room", 300 * mb, 4 * mb, minimumHeap},
		{"a small input that takes nearly all that is modest", 400 * mb, 4 * mb, 560 * mb},
		{"a large input that takes as much as usual", 400 * mb, 27 * mb, 880 * mb},
		{"an input that takes little", 100 * mb, 30 * mb, minimumHeap},
		{"a large input that is being read", 200 * mb, 100 * mb, 1000 * mb},
		{"a small input that takes more than can be modest", 500 * mb, 4 * mb, 1100 * mb},
	} {
		if got := heapLimit(c.used, c.read); got != c.want {
			t.Errorf("%s: %d MB, want %d", c.name, got/mb, c.want/mb)
		}
	}
}
