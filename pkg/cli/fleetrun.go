package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// askedAtATime is how many clusters are asked at a time over the network.
const askedAtATime = 8

// fleet asks several clusters the same, some side by side. What each answers is written in their order and forgotten, so that memory does not
// grow with their number.
type fleet struct {
	app      App
	streams  Streams
	members  []*member
	parallel int
	strict   bool
	format   string
	joined   *render.Joined
	progress *fleetProgress

	answered, found, incomplete bool
	failures                    []clusterFailure
}

// clusterFailure is a cluster that did not answer.
type clusterFailure struct {
	cluster string
	failed
}

func newFleet(a App, cmd *cobra.Command, s Streams, parallel int, members []*member) *fleet {
	common := &shared{}
	for _, m := range members {
		m.shared = common
	}
	if parallel == 0 {
		parallel = askedAtATime
		if members[0].context == "" {
			parallel = runtime.GOMAXPROCS(0)
		}
	}
	if cmd.Flags().Changed("recursive") || cmd.Flags().Changed("kustomize") {
		parallel = 1 // the kustomize library keeps state of its own
	}
	strict, _ := cmd.Flags().GetBool("strict")
	return &fleet{app: a, streams: s, members: members, parallel: min(parallel, len(members)), strict: strict,
		format: cmd.Flags().Lookup("output").Value.String(), joined: render.NewJoined(s.Out)}
}

// memberRun is what came of asking one cluster.
type memberRun struct {
	*member
	told []byte // what it said beside the answer
	err  error
}

// run asks all, and returns what that comes to.
func (f *fleet) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.progress = newFleetProgress(f.streams, len(f.members))
	defer f.progress.end()
	for r := range f.ordered(ctx) {
		f.progress.clear()
		err := f.take(r)
		f.progress.done()
		if err != nil {
			return err
		}
	}
	f.progress.end()
	if err := f.joined.Close(); err != nil {
		return f.unwritten(err)
	}
	return f.outcome(ctx)
}

// ordered asks the clusters side by side and hands out what comes of it in their order. No more of them are under way or wait than may be asked
// at a time.
func (f *fleet) ordered(ctx context.Context) func(yield func(memberRun) bool) {
	return func(yield func(memberRun) bool) {
		queue := make(chan chan memberRun, f.parallel-1)
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			defer close(queue)
			for _, m := range f.members {
				slot := make(chan memberRun, 1)
				select {
				case queue <- slot:
				case <-ended:
					return
				}
				go func() { slot <- f.ask(ctx, m) }()
			}
		}()
		for slot := range queue {
			if !yield(<-slot) {
				return
			}
		}
	}
}

// ask runs the command line for one cluster.
func (f *fleet) ask(ctx context.Context, m *member) memberRun {
	var told bytes.Buffer
	s := f.streams
	s.member, s.Out, s.Err, s.In = m, io.Discard, &told, strings.NewReader("")
	root := commandFor(f.app, f.app.line, s)
	root.SetArgs(f.app.line)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	return memberRun{m, told.Bytes(), err}
}

// take writes what one cluster answered.
func (f *fleet) take(r memberRun) error {
	for line := range strings.Lines(string(r.told)) {
		fmt.Fprintf(f.streams.Err, "%s: %s\n", render.Escape(r.name), strings.TrimSuffix(line, "\n"))
	}
	switch {
	case r.err == nil:
	case errors.Is(r.err, errFindings):
		f.found = true
	case errors.Is(r.err, errIncomplete), errors.Is(r.err, errNothingCompared):
		f.incomplete = true
	default:
		return f.fail(r)
	}
	f.answered = true
	part := r.part
	r.part = nil // it is written, and can be forgotten
	if part == nil {
		return nil // there was nothing to say
	}
	return f.unwritten(f.joined.Write(part))
}

// fail takes down that a cluster did not answer.
func (f *fleet) fail(r memberRun) error {
	why := failure(r.err)
	f.failures = append(f.failures, clusterFailure{r.name, why})
	switch render.Format(f.format) {
	case render.JSON, render.NDJSON, render.YAML:
	default:
		return nil
	}
	p := model.Problem{Severity: model.Error, Code: model.ClusterFailed, Message: why.what, Hint: why.hint}
	if why.code == ExitUsage {
		p.Severity = model.Warning
	}
	o := render.Options{Format: render.Format(f.format), Stamp: render.Stamp{Cluster: r.name}}
	part, err := render.NewPart(view.Failure(p), o)
	if err != nil {
		return err
	}
	return f.unwritten(f.joined.Write(part))
}

// unwritten is what comes of an error of writing.
func (f *fleet) unwritten(err error) error {
	if unknown := (*render.UnknownColumn)(nil); errors.As(err, &unknown) {
		return usage("name one of them, in capitals or not", "%v", unknown)
	}
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// outcome tells which clusters failed, those with the same reason together, and settles the exit code.
func (f *fleet) outcome(ctx context.Context) error {
	if ctx.Err() != nil {
		return &noAnswer{"interrupted", ""}
	}
	if !f.answered && f.alike() { // it has nothing to do with the clusters
		first := f.failures[0]
		if first.code == ExitUsage {
			return &usageError{first.what, first.hint}
		}
		return &noAnswer{first.what + f.others(), first.hint}
	}
	f.tellFailures()
	switch {
	case !f.answered && !slices.ContainsFunc(f.failures, func(c clusterFailure) bool { return c.code != ExitUsage }):
		return usage("check the names and flags", "none of %d clusters has what was asked about", len(f.members))
	case !f.answered:
		return &noAnswer{fmt.Sprintf("none of %d clusters answered", len(f.members)), ""}
	case f.strict && len(f.failures) > 0:
		return &noAnswer{fmt.Sprintf("%d of %d clusters did not answer", len(f.failures), len(f.members)), "the errors above say why"}
	case f.incomplete:
		return errIncomplete
	case f.found:
		return errFindings
	}
	return nil
}

// alike reports whether all clusters failed for the same reason.
func (f *fleet) alike() bool {
	for _, one := range f.failures {
		if one.failed != f.failures[0].failed {
			return false
		}
	}
	return true
}

// others says how many clusters failed.
func (f *fleet) others() string {
	if len(f.failures) == 1 {
		return ""
	}
	return fmt.Sprintf(" (all %d clusters)", len(f.failures))
}

// tellFailures prints each reason once, with the clusters that have it.
func (f *fleet) tellFailures() {
	var reasons []failed
	who := map[failed][]string{}
	for _, one := range f.failures {
		if who[one.failed] == nil {
			reasons = append(reasons, one.failed)
		}
		who[one.failed] = append(who[one.failed], one.cluster)
	}
	for _, why := range reasons {
		name, severity := "cluster ", "error"
		if len(who[why]) > 1 {
			name = "clusters "
		}
		if why.code == ExitUsage {
			severity = "warning" // what was asked about is not there
		}
		what, _, _ := strings.Cut(why.what, "\n")
		fmt.Fprintf(f.streams.Err, "%s: %s%s: %s\n", severity, name, render.Escape(strings.Join(who[why], ", ")), render.Escape(what))
		if why.hint != "" {
			fmt.Fprintf(f.streams.Err, "hint: %s\n", render.Escape(why.hint))
		}
	}
}
