package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// How long nothing must change before the answer is computed anew, and how long to wait where that
// fails.
const (
	quietPeriod = 300 * time.Millisecond
	retryDelay  = 5 * time.Second
)

// AnswerFunc answers once, and writes the answer to the streams.
type AnswerFunc func(ctx context.Context, to run.Streams) error

// AddWatchFlag adds --watch.
func (q *Query) AddWatchFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&q.Watching, "watch", "w", false, "print the answer again whenever it changes")
}

// AnswerOrWatch answers once or, with --watch, again and again.
func (q *Query) AnswerOrWatch(ctx context.Context, s run.Streams, answer AnswerFunc) error {
	if q.Watching {
		return q.watchAnswer(ctx, s, answer)
	}
	return answer(ctx, s)
}

// watchAnswer prints the answer, and prints it again whenever it changes, until it is interrupted.
// Errors after the first answer are printed and the watch goes on.
func (q *Query) watchAnswer(ctx context.Context, s run.Streams, answer AnswerFunc) error {
	if q.Source.ReadsFiles() {
		return failure.Usage("drop -w, or add --live to combine the files with the cluster",
			"--watch works only with a cluster")
	}
	if slices.Contains(q.Source.Files, "-") {
		return failure.Usage("save it to a file, and read that with -f",
			"--watch reads the input again, but standard input can be read only once")
	}
	q.Source.Cache = &cluster.Cache{}
	var last PrintedAnswer
	first, err := captureAnswer(ctx, s, answer)
	if err != nil {
		return err
	}
	if err := first.PrintIfChanged(s, q.Output.Format, &last); err != nil {
		return err
	}
	c, err := q.Source.Cluster.Find()
	if err != nil {
		return err
	}
	watcher, err := cluster.NewWatcher(c.Config, q.Source.Limits.Values(), q.Source.Cache, func(what, hint string) {
		fmt.Fprintf(s.Err, "warning: %s\n", escape.Escape(what))
		if hint != "" {
			fmt.Fprintf(s.Err, "hint: %s\n", hint)
		}
	})
	if err != nil {
		return source.KubeconfigError(err)
	}
	var again <-chan time.Time
	told := "" // the last error printed, until there is an answer again
	for {
		watcher.FollowLists(ctx)
		if !watcher.AwaitChange(ctx, quietPeriod, again) {
			return nil // interrupted
		}
		again = nil
		next, err := captureAnswer(ctx, s, answer)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil: // what was asked about may be gone and come back, and so may the server
			if what := failure.Describe(err).What; what != told {
				told = what
				fmt.Fprintf(s.Err, "error: %s\n", escape.Escape(what))
			}
			again = time.After(retryDelay)
			last = PrintedAnswer{}
			continue
		}
		told = ""
		if err := next.PrintIfChanged(s, q.Output.Format, &last); err != nil {
			return err
		}
	}
}

// PrintedAnswer is the text that an answer prints: what goes to stderr, and the answer.
type PrintedAnswer struct{ stderr, answer string }

// captureAnswer computes the answer. Findings and gaps are no error: they may be gone the next
// time.
func captureAnswer(ctx context.Context, s run.Streams, answer AnswerFunc) (*PrintedAnswer, error) {
	text, err := Capture(ctx, s, answer)
	// what is found or incomplete now may not be later
	if err != nil && !errors.Is(err, failure.ErrIncomplete) && !errors.Is(err, failure.ErrFindings) &&
		!errors.Is(err, failure.ErrNothingCompared) {
		return nil, err
	}
	return text, nil
}

// Capture is captureAnswer with the error of the answer.
func Capture(ctx context.Context, s run.Streams, answer AnswerFunc) (*PrintedAnswer, error) {
	var side, out bytes.Buffer
	aside := s
	aside.Err, aside.Out = &side, &out
	err := answer(ctx, aside)
	return &PrintedAnswer{side.String(), out.String()}, err
}

// PrintIfChanged writes an answer that differs from the last one.
func (p *PrintedAnswer) PrintIfChanged(s run.Streams, format string, last *PrintedAnswer) error {
	if *p == *last {
		return nil
	}
	if *last != (PrintedAnswer{}) {
		switch format {
		case "yaml":
			fmt.Fprintln(s.Out, "---")
		case "table", "wide", "tree":
			fmt.Fprintf(s.Out, "\nchanged at %s\n", time.Now().Format(time.TimeOnly))
		}
	}
	*last = *p
	if _, err := fmt.Fprint(s.Out, p.answer); err != nil {
		return err
	}
	_, err := fmt.Fprint(s.Err, p.stderr)
	return err
}
