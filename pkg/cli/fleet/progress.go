package fleet

import (
	"fmt"
	"sync"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// fleetProgress is the line on a terminal that says how many clusters have answered. It makes way
// for what is written.
type fleetProgress struct {
	streams run.Streams
	total   int
	stopped chan struct{}
	ticker  sync.WaitGroup

	mu       sync.Mutex
	shown    bool
	answered int
	ended    bool
}

func newFleetProgress(s run.Streams, all int) *fleetProgress {
	p := &fleetProgress{streams: s, total: all, stopped: make(chan struct{})}
	if s.ErrIsTTY {
		p.ticker.Go(p.updateLine)
	}
	return p
}

// updateLine keeps the line up to date.
func (p *fleetProgress) updateLine() {
	wait := source.ProgressDelay
	for {
		select {
		case <-p.stopped:
			return
		case <-time.After(wait):
			p.mu.Lock()
			fmt.Fprintf(p.streams.Err, "\r\x1b[Kreading: %d of %d clusters", p.answered, p.total)
			p.shown = true
			p.mu.Unlock()
			wait = 200 * time.Millisecond
		}
	}
}

// clearLine removes the line until countAnswer is called, and keeps the lock until then.
func (p *fleetProgress) clearLine() {
	p.mu.Lock()
	if p.shown {
		fmt.Fprint(p.streams.Err, "\r\x1b[K")
		p.shown = false
	}
}

// countAnswer counts a cluster and releases the lock that clearLine took.
func (p *fleetProgress) countAnswer() {
	p.answered++
	p.mu.Unlock()
}

// stopProgress removes the line for good.
func (p *fleetProgress) stopProgress() {
	if p.ended {
		return
	}
	p.ended = true
	close(p.stopped)
	p.ticker.Wait()
	p.clearLine()
	p.mu.Unlock()
}
