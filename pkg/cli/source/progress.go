package source

import (
	"fmt"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
)

// ProgressDelay is how long reading may take before anything is said about it.
const ProgressDelay = time.Second

// showProgress keeps a line on a terminal up to date while reading lasts longer than a moment. The
// returned function ends and removes it.
func showProgress(s run.Streams, p *cluster.Progress) func() {
	if !s.ErrIsTTY || s.Answer != nil { // of several clusters there is one line
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		wait := ProgressDelay
		shown := false
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(s.Err, "\r\x1b[K")
				}
				return
			case <-time.After(wait):
				fmt.Fprintf(s.Err, "\r\x1b[Kreading: %d of %d lists, %d objects", p.Done.Load(), p.Lists.Load(),
					p.Objects.Load())
				wait, shown = 100*time.Millisecond, true
			}
		}
	}()
	return func() { close(done); <-gone }
}
