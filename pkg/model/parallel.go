package model

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// SmallBatch is how many small pieces of work a processor takes at a time.
const SmallBatch = 16

// Parallel calls do with every number below n, on all processors where that is worth it; each takes
// as many numbers at a time as few says.
func Parallel(n, few int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(int64(few)))
			for i := end - few; i < min(end, n); i++ {
				do(i)
			}
			if end >= n {
				return
			}
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+few-1)/few) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}
