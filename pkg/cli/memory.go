package cli

import (
	"runtime/debug"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The memory that a run aims to stay within: so many times the bytes it reads, or so much for each answer there may be (of two that are compared:
// for each of either, as every one may have changed; of a report: for each with its fold, what lost there and what is drawn of it), and at
// least this much. Where answers are many and what was read is little, less would
// have the garbage collector run all the time.
const (
	memoryPerByte     = 9.2
	memoryPerAnswer   = 2 << 10
	memoryPerCompared = 6 << 10
	memoryPerReported = 12 << 10
	leastMemory       = 67 << 20
)

// garbagePercent is how much garbage there may be before it is collected, in percent of what is in use, while memory stays within the bound.
// A run is short and most of what it makes stays in use, so that collecting as often as Go does by default (100) finds little.
const garbagePercent = 400

// collectSeldom begins a run: until something is read there is little to collect, and looking for it costs as much as the rest. Settings of
// the environment stand.
func collectSeldom(s Streams) {
	if _, set := s.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(garbagePercent)
	}
}

// boundMemory is told how many bytes are read before they are decoded. Limits from the environment stand.
func boundMemory(s Streams, read int64) { setMemoryLimit(s, read, 0) }

// boundAnswers is told what the answers may be, once that is known, and how much memory each of them takes.
func boundAnswers(s Streams, read, each int64, kinds []*resolve.Kind) {
	answers := int64(0)
	for _, k := range kinds {
		k.EachContext(func(topology.NodeID, resolve.StackID) { answers++ })
	}
	setMemoryLimit(s, read, each*answers)
}

// setMemoryLimit bounds the memory by the bytes that were read, or by what the answers take.
func setMemoryLimit(s Streams, read, answers int64) {
	if _, set := s.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(max(leastMemory, int64(memoryPerByte*float64(read)), answers))
	}
}
