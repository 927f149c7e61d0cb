package cli

import (
	"context"
	"errors"
	"slices"
	"time"
)

// auditInterval is how long proxies have to change before they are asked again.
const auditInterval = 2 * time.Second

// waitForProxies compares again and again, until the proxies do what is predicted or the time is
// over, and prints the last answer.
func (q *auditFlags) waitForProxies(ctx context.Context, a App, s Streams, args []string) error {
	switch {
	case len(q.dumps) == 0 && !q.live:
		return newUsageError("add --proxies, or --dataplane with a file that is written anew", "--wait is about proxies")
	case slices.Contains(q.dumps, "-") || slices.Contains(q.files, "-"):
		return newUsageError("save it to a file", "--wait reads the input again, but standard input can be read only once")
	case q.watching:
		return newUsageError("drop one of the two", "--wait and --watch cannot be given together")
	}
	over := time.Now().Add(q.wait)
	for {
		var last printedAnswer
		text, err := captureAnswerAndError(ctx, s, func(ctx context.Context, s, to Streams) error { return q.runAudit(ctx, a, s, to, args) })
		if err != nil && !errors.Is(err, errFindings) && !errors.Is(err, errIncomplete) && !errors.Is(err, errNothingCompared) {
			return err
		}
		agrees := err == nil && q.lastReport.Complete && len(q.lastReport.Drift) == 0
		if agrees || time.Until(over) < auditInterval {
			if failed := text.printIfChanged(s, q.format, &last); failed != nil {
				return failed
			}
			if err == nil && !agrees {
				return errFindings // a setting counts as arrived only if it is known, and the same in all replicas
			}
			return err
		}
		select {
		case <-ctx.Done():
			return &noAnswerError{"interrupted while waiting for the proxies", ""}
		case <-time.After(auditInterval):
		}
	}
}
