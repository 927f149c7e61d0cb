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

// modestMemory is how large a run stays while that costs little: while what is in use leaves a
// fifth of it free.
const modestMemory = 512 << 20

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
	adjustCollection(debug.SetMemoryLimit(-1))
}

// adjustCollection sets the garbage percentage and the memory limit again after every collection.
// On a busy machine that is late: the memory limit holds until then. mostMemory, in bytes, is the
// limit of the container or of the environment.
func adjustCollection(mostMemory int64) {
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		used := live[0].Value.Uint64()
		debug.SetGCPercent(garbagePercent(used))
		debug.SetMemoryLimit(memoryLimit(used, mostMemory))
		adjustCollection(mostMemory)
	}, struct{}{})
}

// memoryLimit is how large a run may grow, in bytes, before garbage is collected whatever its share.
func memoryLimit(used uint64, mostMemory int64) int64 {
	if used > modestMemory/5*4 {
		return mostMemory
	}
	return min(modestMemory, mostMemory)
}
