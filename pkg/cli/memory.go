package cli

import (
	"runtime/debug"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The memory that a run aims to stay within: so many times the bytes it read, or so much for each answer there may be, and at least this
// much. Where answers are many and what was read is little, less would have the garbage collector run all the time.
const (
	memoryPerByte   = 9.6
	memoryPerAnswer = 2 << 10
	leastMemory     = 64 << 20
)

// boundMemory has the garbage collector work harder where memory would otherwise grow beyond the bound; left to itself it lets memory double.
// A limit from the environment stands.
func boundMemory(s Streams, read int64, kinds []*resolve.Kind) {
	if _, set := s.LookupEnv("GOMEMLIMIT"); set {
		return
	}
	answers := int64(0)
	for _, k := range kinds {
		k.EachContext(func(topology.NodeID, resolve.StackID) { answers++ })
	}
	debug.SetMemoryLimit(max(leastMemory, int64(memoryPerByte*float64(read)), memoryPerAnswer*answers))
}
