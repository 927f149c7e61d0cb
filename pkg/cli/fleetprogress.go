package cli

import (
	"fmt"
	"sync"
	"time"
)

// fleetProgress is the line on a terminal that says how many clusters have answered. It makes way for what is written.
type fleetProgress struct {
	s       Streams
	all     int
	stopped chan struct{}
	ticker  sync.WaitGroup

	mu    sync.Mutex
	shown bool
	ready int
	over  bool
}

func newFleetProgress(s Streams, all int) *fleetProgress {
	p := &fleetProgress{s: s, all: all, stopped: make(chan struct{})}
	if s.ErrIsTTY {
		p.ticker.Go(p.show)
	}
	return p
}

// show keeps the line up to date.
func (p *fleetProgress) show() {
	wait := quiet
	for {
		select {
		case <-p.stopped:
			return
		case <-time.After(wait):
			p.mu.Lock()
			fmt.Fprintf(p.s.Err, "\r\x1b[Kreading: %d of %d clusters", p.ready, p.all)
			p.shown = true
			p.mu.Unlock()
			wait = 200 * time.Millisecond
		}
	}
}

// clear removes the line until done is called.
func (p *fleetProgress) clear() {
	p.mu.Lock()
	if p.shown {
		fmt.Fprint(p.s.Err, "\r\x1b[K")
		p.shown = false
	}
}

// done counts a cluster.
func (p *fleetProgress) done() {
	p.ready++
	p.mu.Unlock()
}

// end removes the line for good.
func (p *fleetProgress) end() {
	if p.over {
		return
	}
	p.over = true
	close(p.stopped)
	p.ticker.Wait()
	p.clear()
	p.mu.Unlock()
}
