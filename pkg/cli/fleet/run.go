package fleet

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

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// maxParallelClusters is how many clusters are asked at a time over the network.
const maxParallelClusters = 8

// runner asks several clusters the same, some at a time. Each answer is written in the order of the
// clusters and then forgotten, so that memory does not grow with their number.
type runner struct {
	env      run.Environment
	line     []string // the command line, which is run once for each cluster
	build    TreeFunc
	members  []*Member
	parallel int
	strict   bool
	format   string
	joined   *render.JoinedWriter
	progress *fleetProgress

	answered, hasFindings, incomplete bool
	failures                          []clusterFailure
}

// clusterFailure is a cluster that did not answer.
type clusterFailure struct {
	cluster string
	details failure.Details
}

func newRunner(cmd *cobra.Command, env run.Environment, parallel int, members []*Member, line []string,
	build TreeFunc) *runner {
	env.Catalog = &run.CatalogCache{}
	if parallel == 0 {
		parallel = maxParallelClusters
		if members[0].context == "" {
			parallel = runtime.GOMAXPROCS(0)
		}
	}
	if cmd.Flags().Changed("recursive") || cmd.Flags().Changed("kustomize") {
		parallel = 1 // the kustomize library keeps state of its own
	}
	strict, _ := cmd.Flags().GetBool("strict")
	return &runner{env: env, line: line, build: build, members: members, parallel: min(parallel, len(members)),
		strict: strict,
		format: cmd.Flags().Lookup("output").Value.String(), joined: render.NewJoinedWriter(env.Streams.Out)}
}

// memberRun is the result of asking one cluster.
type memberRun struct {
	member *Member
	stderr []byte // what it wrote to stderr
	err    error
}

// runAll asks all clusters, and returns the error that decides the exit code.
func (f *runner) runAll(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.progress = newFleetProgress(f.env.Streams, len(f.members))
	defer f.progress.stopProgress()
	for r := range f.runInOrder(ctx) {
		f.progress.clearLine()
		err := f.writeRun(r)
		f.progress.countAnswer()
		if err != nil {
			return err
		}
	}
	f.progress.stopProgress()
	if err := f.joined.Close(); err != nil {
		return f.wrapWriteError(err)
	}
	return f.reportOutcome(ctx)
}

// runInOrder asks the clusters concurrently and yields the results in the order of the clusters. At
// most as many runs are under way or waiting as may be asked at a time.
func (f *runner) runInOrder(ctx context.Context) func(yield func(memberRun) bool) {
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
				go func() { slot <- f.runMember(ctx, m) }()
			}
		}()
		for slot := range queue {
			if !yield(<-slot) {
				return
			}
		}
	}
}

// runMember runs the command line for one cluster.
func (f *runner) runMember(ctx context.Context, m *Member) memberRun {
	var told bytes.Buffer
	env := f.env
	s := &env.Streams
	s.Answer, s.Out, s.Err, s.In = m.keepAnswer, io.Discard, &told, strings.NewReader("")
	root := f.build(env, m)
	root.SetArgs(f.line)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	return memberRun{m, told.Bytes(), err}
}

// writeRun writes what one cluster answered.
func (f *runner) writeRun(r memberRun) error {
	for line := range strings.Lines(string(r.stderr)) {
		fmt.Fprintf(f.env.Streams.Err, "%s: %s\n", escape.Escape(r.member.name), strings.TrimSuffix(line, "\n"))
	}
	switch {
	case r.err == nil:
	case errors.Is(r.err, failure.ErrFindings):
		f.hasFindings = true
	case errors.Is(r.err, failure.ErrIncomplete), errors.Is(r.err, failure.ErrNothingCompared):
		f.incomplete = true
	default:
		return f.recordFailure(r)
	}
	f.answered = true
	part := r.member.part
	r.member.part = nil // it is written, and can be forgotten
	if part == nil {
		return nil // there was nothing to say
	}
	return f.wrapWriteError(f.joined.Write(part))
}

// recordFailure notes that a cluster did not answer.
func (f *runner) recordFailure(r memberRun) error {
	why := failure.Describe(r.err)
	f.failures = append(f.failures, clusterFailure{r.member.name, why})
	switch render.Format(f.format) {
	case render.JSON, render.NDJSON, render.YAML, render.OpenMetrics:
	default:
		return nil
	}
	p := model.Problem{Severity: model.Error, Code: model.ClusterFailed, Message: why.What, Hint: why.Hint}
	if why.Usage {
		p.Severity = model.Warning
	}
	o := render.Options{Format: render.Format(f.format), Stamp: render.Stamp{Cluster: r.member.name}}
	part, err := render.NewClusterPart(view.NewClusterFailure(p), o)
	if err != nil {
		return err
	}
	return f.wrapWriteError(f.joined.Write(part))
}

// wrapWriteError explains an error of writing the answer.
func (f *runner) wrapWriteError(err error) error {
	if unknown := (*render.UnknownColumn)(nil); errors.As(err, &unknown) {
		return failure.Usage("name one of them, in capitals or not", "%v", unknown)
	}
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// reportOutcome prints which clusters failed, those with the same reason together, and returns the
// error that decides the exit code.
func (f *runner) reportOutcome(ctx context.Context) error {
	if ctx.Err() != nil {
		return failure.NoAnswer("interrupted", "")
	}
	if !f.answered && f.failedAlike() { // the error does not come from the clusters
		first := f.failures[0]
		if first.details.Usage {
			return failure.Usage(first.details.Hint, "%s", first.details.What)
		}
		return failure.NoAnswer(first.details.What+f.describeFailureCount(), first.details.Hint)
	}
	f.printFailures()
	switch {
	case !f.answered && !slices.ContainsFunc(f.failures, func(c clusterFailure) bool { return !c.details.Usage }):
		return failure.Usage("check the names and flags", "none of %d clusters has what was asked about",
			len(f.members))
	case !f.answered:
		return failure.NoAnswer(fmt.Sprintf("none of %d clusters answered", len(f.members)), "")
	case f.strict && len(f.failures) > 0:
		return failure.NoAnswer(fmt.Sprintf("%d of %d clusters did not answer", len(f.failures), len(f.members)),
			"the errors above say why")
	case f.incomplete:
		return failure.ErrIncomplete
	case f.hasFindings:
		return failure.ErrFindings
	}
	return nil
}

// failedAlike reports whether all clusters failed for the same reason.
func (f *runner) failedAlike() bool {
	for _, one := range f.failures {
		if one.details != f.failures[0].details {
			return false
		}
	}
	return true
}

// describeFailureCount says how many clusters failed, "" for one.
func (f *runner) describeFailureCount() string {
	if len(f.failures) == 1 {
		return ""
	}
	return fmt.Sprintf(" (all %d clusters)", len(f.failures))
}

// printFailures prints each reason once, with the clusters that have it.
func (f *runner) printFailures() {
	var reasons []failure.Details
	who := map[failure.Details][]string{}
	for _, one := range f.failures {
		if who[one.details] == nil {
			reasons = append(reasons, one.details)
		}
		who[one.details] = append(who[one.details], one.cluster)
	}
	for _, why := range reasons {
		name, severity := "cluster ", "error"
		if len(who[why]) > 1 {
			name = "clusters "
		}
		if why.Usage {
			severity = "warning" // what was asked about is not there
		}
		what, _, _ := strings.Cut(why.What, "\n")
		fmt.Fprintf(f.env.Streams.Err, "%s: %s%s: %s\n", severity, name, escape.Escape(strings.Join(who[why], ", ")),
			escape.Escape(what))
		if why.Hint != "" {
			fmt.Fprintf(f.env.Streams.Err, "hint: %s\n", escape.Escape(why.Hint))
		}
	}
}
