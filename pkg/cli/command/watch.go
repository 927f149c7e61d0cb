package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
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
	s.Err = &lockedWriter{to: s.Err}
	if q.marksChanges() {
		s.Margin = render.ChangeMargin
	}
	last := PrintedAnswer{marked: q.marksChanges(), colored: q.Output.IsColored(s)}
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
	watcher, err := cluster.NewWatcher(c.Config, q.Source.Limits.Values(), q.Source.Cache, reportTo(s, c.Context))
	if err != nil {
		return source.KubeconfigError(err, c.Config.Host)
	}
	go watcher.FollowConnection(ctx)
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
			last.outdated = true
			continue
		}
		told = ""
		if err := next.PrintIfChanged(s, q.Output.Format, &last); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// marksChanges reports whether the answer has lines that can be marked as new or gone.
func (q *Query) marksChanges() bool {
	return q.Output.Template.Parsed == nil &&
		slices.Contains([]string{"table", "wide", "grouped", "tree"}, q.Output.Format)
}

// reportTo returns what is told of a watch.
func reportTo(s run.Streams, name string) cluster.WatchReports {
	return cluster.WatchReports{
		Problem: func(what, hint string) {
			text := fmt.Sprintf("warning: %s\n", escape.Escape(what))
			if hint != "" {
				text += fmt.Sprintf("hint: %s\n", hint)
			}
			fmt.Fprint(s.Err, text)
		},
		Lost: func(since time.Time, err error) {
			fmt.Fprintf(s.Err, "warning: the connection to cluster %s is lost: the answer is that of %s (%s)\n",
				escape.Escape(name), since.Format(time.TimeOnly), escape.Escape(err.Error()))
		},
		Back: func(since time.Time) {
			fmt.Fprintf(s.Err, "note: cluster %s answers again at %s, after %s: what has changed follows\n",
				escape.Escape(name), time.Now().Format(time.TimeOnly), time.Since(since).Round(time.Second))
		},
	}
}

// lockedWriter is a writer for several at a time.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// PrintedAnswer is the text that an answer prints: what goes to stderr, and the answer.
type PrintedAnswer struct {
	stderr, answer string

	printed  bool // it is not the first
	outdated bool // it was said since that there is none: the next is printed whatever it is
	marked   bool // the lines of later ones are marked that are new or gone
	colored  bool
}

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
	return &PrintedAnswer{stderr: side.String(), answer: out.String()}, err
}

// PrintIfChanged writes an answer that differs from the last one, for people with marks of what
// changed. What goes to stderr is written again only if that differs.
func (p *PrintedAnswer) PrintIfChanged(s run.Streams, format string, last *PrintedAnswer) error {
	before := *last
	if before.printed && !before.outdated && p.answer == before.answer && p.stderr == before.stderr {
		return nil
	}
	last.stderr, last.answer, last.printed, last.outdated = p.stderr, p.answer, true, false
	text := p.answer
	switch {
	case !before.printed:
	case format == "yaml":
		text = "---\n" + text
	case p.answer == before.answer && !before.outdated:
		text = ""
	case before.marked:
		marked, added, removed := render.MarkChanges(before.answer, p.answer, before.colored)
		text = fmt.Sprintf("\nchanged at %s: %d new (+), %d gone (-)\n%s", time.Now().Format(time.TimeOnly), added,
			removed, marked)
	}
	if _, err := fmt.Fprint(s.Out, text); err != nil {
		return err
	}
	if p.stderr == before.stderr && before.printed && !before.outdated {
		return nil
	}
	_, err := fmt.Fprint(s.Err, p.stderr)
	return err
}
