package cli

import (
	"context"
	"errors"
	"slices"
	"time"
)

// askAgainIn is how long proxies have to change before they are asked again.
const askAgainIn = 2 * time.Second

// await compares again and again, until the proxies do what is predicted or the time is over, and prints the last answer.
func (q *auditFlags) await(ctx context.Context, a App, s Streams, args []string) error {
	switch {
	case len(q.dumps) == 0 && !q.live:
		return usage("add --proxies, or --dataplane with a file that is written anew", "--wait is about proxies")
	case slices.Contains(q.dumps, "-") || slices.Contains(q.files, "-"):
		return usage("save it to a file", "--wait reads the input again, but standard input can be read only once")
	case q.again:
		return usage("drop one of the two", "--wait and --watch cannot be given together")
	}
	over := time.Now().Add(q.wait)
	for {
		var last printed
		text, err := onceAsideWith(ctx, s, func(ctx context.Context, s, to Streams) error { return q.audit(ctx, a, s, to, args) })
		if err != nil && !errors.Is(err, errFindings) && !errors.Is(err, errIncomplete) && !errors.Is(err, errNothingCompared) {
			return err
		}
		agrees := err == nil && q.last.Complete && len(q.last.Drift) == 0
		if agrees || time.Until(over) < askAgainIn {
			if failed := text.print(s, q.format, &last); failed != nil {
				return failed
			}
			if err == nil && !agrees {
				return errFindings // what is not known, or runs with different versions, has not arrived
			}
			return err
		}
		select {
		case <-ctx.Done():
			return &noAnswer{"interrupted while waiting for the proxies", ""}
		case <-time.After(askAgainIn):
		}
	}
}
