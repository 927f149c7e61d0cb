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
	settled    = 300 * time.Millisecond
	tryAgainIn = 5 * time.Second
)

// answering answers a question once: reading uses the first pair of streams, the answer is written to the second one.
type answering func(ctx context.Context, s, to Streams) error

// addWatch adds the flag of commands that can answer again.
func (q *question) addWatch(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&q.again, "watch", "w", false, "print the answer again whenever it changes")
}

// run answers once or, with --watch, again and again.
func (q *question) run(cmd *cobra.Command, s Streams, answer answering) error {
	if q.again {
		return q.watch(cmd.Context(), s, answer)
	}
	return answer(cmd.Context(), s, s)
}

// watch prints the answer, and prints it again whenever it changes, until it is interrupted. Errors after the first answer are told and the
// watch goes on.
func (q *question) watch(ctx context.Context, s Streams, answer answering) error {
	if !q.overLive && (len(q.files) > 0 || q.kustomization != "") {
		return usage("drop -w, or add --live to combine the files with the cluster", "--watch works only with a cluster")
	}
	if slices.Contains(q.files, "-") {
		return usage("save it to a file, and read that with -f", "--watch reads the input again, but standard input can be read only once")
	}
	q.cache = &load.Cache{}
	var last printed
	first, err := onceAside(ctx, s, answer)
	if err != nil {
		return err
	}
	if err := first.print(s, q.format, &last); err != nil {
		return err
	}
	c, err := q.connect()
	if err != nil {
		return err
	}
	watcher, err := load.NewWatcher(c.config, q.limits(), q.cache, func(what, hint string) {
		fmt.Fprintf(s.Err, "warning: %s\n", render.Escape(what))
		if hint != "" {
			fmt.Fprintf(s.Err, "hint: %s\n", hint)
		}
	})
	if err != nil {
		return kubeconfigError(err)
	}
	var again <-chan time.Time
	told := "" // the error that was told last, until there is an answer again
	for {
		watcher.Follow(ctx)
		if !watcher.Next(ctx, settled, again) {
			return nil // interrupted
		}
		again = nil
		next, err := onceAside(ctx, s, answer)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil: // what was asked about may be gone and come back, and so may the server
			if what := failure(err).what; what != told {
				told = what
				fmt.Fprintf(s.Err, "error: %s\n", render.Escape(what))
			}
			again = time.After(tryAgainIn)
			last = printed{}
			continue
		}
		told = ""
		if err := next.print(s, q.format, &last); err != nil {
			return err
		}
	}
}

// printed is one answer as it is printed: what is told on the side, and the answer.
type printed struct{ side, answer string }

// onceAside computes the answer.
func onceAside(ctx context.Context, s Streams, answer answering) (*printed, error) {
	text, err := onceAsideWith(ctx, s, answer)
	if err != nil && !errors.Is(err, errIncomplete) && !errors.Is(err, errFindings) && !errors.Is(err, errNothingCompared) { // what is found or incomplete now may not be later
		return nil, err
	}
	return text, nil
}

// onceAsideWith is onceAside with what the answer came to.
func onceAsideWith(ctx context.Context, s Streams, answer answering) (*printed, error) {
	var side, out bytes.Buffer
	aside := s
	aside.Err, aside.Out = &side, &out
	err := answer(ctx, s, aside)
	return &printed{side.String(), out.String()}, err
}

// print writes an answer that is another than the last one.
func (p *printed) print(s Streams, format string, last *printed) error {
	if *p == *last {
		return nil
	}
	if *last != (printed{}) {
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
	_, err := fmt.Fprint(s.Err, p.side)
	return err
}
