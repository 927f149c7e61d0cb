package audit

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
)

// auditInterval is how long proxies have to change before they are asked again.
const auditInterval = 2 * time.Second

// waitForProxies compares again and again, until the proxies do what is predicted or the time is
// over, and prints the last answer.
func (o *Options) waitForProxies(ctx context.Context) error {
	q, s := &o.Query, o.Environment.Streams
	switch {
	case len(o.Dumps.Paths) == 0 && !o.Live:
		return failure.Usage("add --proxies, or --dataplane with a file that is written anew",
			"--wait is about proxies")
	case slices.Contains(o.Dumps.Paths, "-") || slices.Contains(q.Source.Files, "-"):
		return failure.Usage("save it to a file",
			"--wait reads the input again, but standard input can be read only once")
	case q.Watching:
		return failure.Usage("drop one of the two", "--wait and --watch cannot be given together")
	}
	over := time.Now().Add(o.Wait)
	for {
		var last command.PrintedAnswer
		text, err := command.Capture(ctx, s, o.answerOnce)
		if err != nil && !errors.Is(err, failure.ErrFindings) && !errors.Is(err, failure.ErrIncomplete) &&
			!errors.Is(err, failure.ErrNothingCompared) {
			return err
		}
		agrees := err == nil && o.lastReport.Complete && len(o.lastReport.Drift) == 0
		if agrees || time.Until(over) < auditInterval {
			if failed := text.PrintIfChanged(s, q.Output.Format, &last); failed != nil {
				return failed
			}
			if err == nil && !agrees {
				// a setting counts as arrived only if it is known, and the same in all replicas
				return failure.ErrFindings
			}
			return err
		}
		select {
		case <-ctx.Done():
			return failure.NoAnswer("interrupted while waiting for the proxies", "")
		case <-time.After(auditInterval):
		}
	}
}
