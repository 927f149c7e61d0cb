package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// How long nothing must change before the answer is computed anew, and how long to wait where that fails.
const (
	quietPeriod = 300 * time.Millisecond
	retryDelay  = 5 * time.Second
)

// answerFunc answers once: reading uses the first pair of streams, the answer is written to the
// second one.
type answerFunc func(ctx context.Context, s, to Streams) error

// addWatchFlag adds --watch.
func (q *queryFlags) addWatchFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&q.watching, "watch", "w", false, "print the answer again whenever it changes")
}

// answerOrWatch answers once or, with --watch, again and again.
func (q *queryFlags) answerOrWatch(cmd *cobra.Command, s Streams, answer answerFunc) error {
	if q.watching {
		return q.watchAnswer(cmd.Context(), s, answer)
	}
	return answer(cmd.Context(), s, s)
}

// watchAnswer prints the answer, and prints it again whenever it changes, until it is interrupted.
// Errors after the first answer are printed and the watch goes on.
func (q *queryFlags) watchAnswer(ctx context.Context, s Streams, answer answerFunc) error {
	if !q.overLive && (len(q.files) > 0 || q.kustomization != "") {
		return newUsageError("drop -w, or add --live to combine the files with the cluster", "--watch works only with a cluster")
	}
	if slices.Contains(q.files, "-") {
		return newUsageError("save it to a file, and read that with -f", "--watch reads the input again, but standard input can be read only once")
	}
	q.cache = &load.Cache{}
	var last printedAnswer
	first, err := captureAnswer(ctx, s, answer)
	if err != nil {
		return err
	}
	if err := first.printIfChanged(s, q.format, &last); err != nil {
		return err
	}
	c, err := q.findCluster()
	if err != nil {
		return err
	}
	watcher, err := load.NewWatcher(c.config, q.loadLimits(), q.cache, func(what, hint string) {
		fmt.Fprintf(s.Err, "warning: %s\n", render.Escape(what))
		if hint != "" {
			fmt.Fprintf(s.Err, "hint: %s\n", hint)
		}
	})
	if err != nil {
		return kubeconfigError(err)
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
			if what := classifyError(err).what; what != told {
				told = what
				fmt.Fprintf(s.Err, "error: %s\n", render.Escape(what))
			}
			again = time.After(retryDelay)
			last = printedAnswer{}
			continue
		}
		told = ""
		if err := next.printIfChanged(s, q.format, &last); err != nil {
			return err
		}
	}
}

// printedAnswer is the text that an answer prints: what goes to stderr, and the answer.
type printedAnswer struct{ stderr, answer string }

// captureAnswer computes the answer. Findings and gaps are no error: they may be gone the next
// time.
func captureAnswer(ctx context.Context, s Streams, answer answerFunc) (*printedAnswer, error) {
	text, err := captureAnswerAndError(ctx, s, answer)
	if err != nil && !errors.Is(err, errIncomplete) && !errors.Is(err, errFindings) && !errors.Is(err, errNothingCompared) { // what is found or incomplete now may not be later
		return nil, err
	}
	return text, nil
}

// captureAnswerAndError is captureAnswer with the error of the answer.
func captureAnswerAndError(ctx context.Context, s Streams, answer answerFunc) (*printedAnswer, error) {
	var side, out bytes.Buffer
	aside := s
	aside.Err, aside.Out = &side, &out
	err := answer(ctx, s, aside)
	return &printedAnswer{side.String(), out.String()}, err
}

// printIfChanged writes an answer that differs from the last one.
func (p *printedAnswer) printIfChanged(s Streams, format string, last *printedAnswer) error {
	if *p == *last {
		return nil
	}
	if *last != (printedAnswer{}) {
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
