package cli

import "testing"

func TestGarbagePercent(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		used uint64
		want int
	}{
		{"a run that has just begun", 0, 800},
		{"a run that has read something", 9 * mb, 200},
		{"a run that stays modest", 100 * mb, 200},
		{"a run that grows to what is modest", 200 * mb, 100},
		{"a run that takes nearly all that is modest", 350 * mb, 20},
		{"a run that takes more than is modest", 400 * mb, 20},
		{"a large run", 800 * mb, 100},
	} {
		if got := garbagePercent(c.used); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		used uint64
		most int64
		want int64
	}{
		{"a run that stays modest", 100 * mb, 4096 * mb, 512 * mb},
		{"a modest run in a small container", 100 * mb, 256 * mb, 256 * mb},
		{"a large run", 800 * mb, 4096 * mb, 4096 * mb},
	} {
		if got := memoryLimit(c.used, c.most); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
