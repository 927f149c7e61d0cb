package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// How much garbage there may be before it is collected, in percent of what is in use. A run is short and most of what it makes stays in use, so
// that collecting as often as Go does by default (100) finds little. Most runs end before the first collection.
const (
	firstGarbagePercent = 1600 // until there was one collection: at 64 MB
	garbagePercent      = 400
)

// limitMemory begins a run: garbage is collected seldom, and the memory stays below what a container allows. Without such a limit there is
// none. Settings of the environment (GOGC, GOMEMLIMIT) stand.
func limitMemory(s Streams) {
	if _, set := s.LookupEnv("GOGC"); !set {
		const usual = 100
		if before := debug.SetGCPercent(firstGarbagePercent); before != usual { // an earlier run of the same process has begun
			debug.SetGCPercent(before)
		} else {
			runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, garbagePercent)
		}
	}
	_, _ = memlimit.Set() // a container whose limit cannot be read is a machine without one
}
