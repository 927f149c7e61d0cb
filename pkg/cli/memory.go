package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// minimumHeap is how large a run may grow by garbage in any case.
const minimumHeap = 400 << 20

// leastGarbage is the percentage at which memory counts more than time: SECURITY.md says how much a
// small input may take.
const leastGarbage = 20

// smallHeap is what the program has in use before it reads anything.
const smallHeap = 8 << 20

// garbagePercent is how much garbage there may be before it is collected, in percent of the bytes
// in use. A run is short and most of what it makes stays in use, so that collecting as often as Go
// does by default finds little. Near what is modest it is collected more often, so that a small
// input that takes much room does not take several times that room.
func garbagePercent(used uint64) int {
	switch {
	case used <= smallHeap: // a small input ends before anything has to be collected
		return 800
	case used <= minimumHeap/3:
		return 200
	case used < 2*minimumHeap:
		return max(leastGarbage, (minimumHeap-int(used))*100/int(used))
	}
	return 100
}

// limitMemory begins a run: garbage is collected as garbagePercent says, and the memory stays below
// what a container allows. Settings of the environment (GOGC, GOMEMLIMIT) stand.
func limitMemory(s Streams) {
	_, _ = memlimit.Set() // a container whose limit cannot be read is a machine without one
	if _, set := s.LookupEnv("GOGC"); set {
		return
	}
	const usual = 100
	// an earlier run of the same process has begun
	if before := debug.SetGCPercent(garbagePercent(0)); before != usual {
		debug.SetGCPercent(before)
		return
	}
	adjustCollection()
}

// adjustCollection sets the garbage percentage again after every collection.
func adjustCollection() {
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(garbagePercent(live[0].Value.Uint64()))
		adjustCollection()
	}, struct{}{})
}
