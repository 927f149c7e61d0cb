package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// How much garbage there may be before it is collected, in percent of what is in use. A run is short and most of what it makes stays in use, so
// that collecting as often as Go does by default (100) finds little; collecting more seldom than this takes longer, as memory that is touched for
// the first time costs more than memory that is used again. Small runs end before the first collection.
const (
	firstGarbagePercent = 800 // until there was one collection: at 32 MB
	garbagePercent      = 200
)

// How large a run may grow by garbage: to 2.2 times what is in use, to timesRead what was read, which an answer about everything takes in the end anyway,
// and to modest in any case. An input of which each byte takes more than perByte bytes grows to 1.4 times what is in use, until that is fewInUse bytes:
// a small one that takes much room does not take several times that room.
const (
	minimumHeap = 490 << 20
	timesRead   = 10
	smallHeap   = 465 << 20
	heapPerByte = 16
)

// bytesRead is how much of manifests and clusters this process has read.
var bytesRead atomic.Int64

// limitMemory begins a run: garbage is collected seldom, and the memory stays below what a container allows. Settings of the environment
// (GOGC, GOMEMLIMIT) stand.
func limitMemory(s Streams) {
	if _, set := s.LookupEnv("GOGC"); !set {
		const usual, never = 100, -1                                                               // as the program begins (cmd/kubectl-dopolicy/begin)
		if before := debug.SetGCPercent(firstGarbagePercent); before != usual && before != never { // an earlier run of the same process has begun
			debug.SetGCPercent(before)
			return
		}
		afterCollection(func() { debug.SetGCPercent(garbagePercent) })
	}
	_, _ = memlimit.Set() // a container whose limit cannot be read is a machine without one
	if _, set := s.LookupEnv("GOMEMLIMIT"); !set {
		most := debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(min(most, minimumHeap))
		limitHeap(most)
	}
}

// limitHeap sets after every collection how large the run may grow until the next one; never beyond
// most.
func limitHeap(most int64) {
	afterCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetMemoryLimit(min(most, heapLimit(int64(min(live[0].Value.Uint64(), math.MaxInt64/3)), bytesRead.Load())))
		limitHeap(most)
	})
}

// heapLimit is how large a run may grow that has so many bytes in use and has read so many.
func heapLimit(used, read int64) int64 {
	if used <= smallHeap && used/heapPerByte > read {
		return max(minimumHeap, used+used*2/5)
	}
	return max(minimumHeap, 2*used+used/5, timesRead*read)
}

// afterCollection calls do once, after the next collection.
func afterCollection(do func()) {
	runtime.AddCleanup(new([16]byte), func(do func()) { do() }, do)
}
