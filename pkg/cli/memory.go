package cli

import (
	"math"
	"runtime/debug"
)

// The memory that a run aims to stay within: so many times the bytes it read, and at least this much.
const (
	memoryPerByte = 9.6
	leastMemory   = 64 << 20
)

// boundMemory has the garbage collector work harder where memory would otherwise grow beyond the bound; left to itself it lets memory double.
// A limit from the environment (GOMEMLIMIT) stands.
func boundMemory(read int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(max(leastMemory, int64(memoryPerByte*float64(read))))
	}
}
