package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// How much garbage there may be before it is collected, in percent of what is in use. A run is short and most of what it makes stays in use, so
// that collecting as often as Go does by default (100) finds little. Most runs end before the first collection.
const (
	firstGarbagePercent = 1600 // until there was one collection: at 64 MB
	garbagePercent      = 400
)

// How large a run may grow by garbage. Up to fewInUse bytes in use the whole stays near modest, so that a small input that takes much room to read does not
// take several times that room; a large one may be several times what is in use.
const (
	modest   = 490 << 20
	fewInUse = 465 << 20
	several  = 3
)

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
		debug.SetMemoryLimit(min(most, modest))
		keepModest(most)
	}
}

// keepModest sets after every collection how large the run may grow until the next one; never beyond most.
func keepModest(most int64) {
	afterCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		limit := int64(modest)
		if used := live[0].Value.Uint64(); used > fewInUse {
			limit = several * int64(min(used, math.MaxInt64/several))
		}
		debug.SetMemoryLimit(min(most, limit))
		keepModest(most)
	})
}

// afterCollection calls do once, after the next collection.
func afterCollection(do func()) {
	runtime.AddCleanup(new([16]byte), func(do func()) { do() }, do)
}
