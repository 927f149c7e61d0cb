package campaign

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Seeds are the numbers from first to last.
type Seeds struct{ First, Last int64 }

// Next gives the next seed; false if there is none left.
type Next func() (int64, bool)

// Record has one worker at a time change what the run found. The run ends once a change returns true.
type Record func(change func() bool)

// Run shares the seeds among workers, until they are done, or the time is over. A worker that fails ends the run.
func (s Seeds) Run(outer context.Context, until time.Time, workers int, work func(context.Context, Next, Record) error) error {
	next := atomic.Int64{}
	next.Store(s.First)
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	var lock sync.Mutex
	var failed error
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			err := work(ctx, func() (int64, bool) {
				n := next.Add(1) - 1
				return n, n <= s.Last && (until.IsZero() || time.Now().Before(until)) && ctx.Err() == nil
			}, func(change func() bool) {
				lock.Lock()
				defer lock.Unlock()
				if change() {
					cancel()
				}
			})
			lock.Lock()
			defer lock.Unlock()
			if err != nil && ctx.Err() == nil {
				failed = errors.Join(failed, err)
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(failed, outer.Err())
}
