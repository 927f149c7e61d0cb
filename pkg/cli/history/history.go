package history

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/output"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/sides"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/history"
)

// Options name the target and the snapshots: of the flags about sides those that matter.
type Options struct {
	Environment run.Environment
	Args        []string
	Sides       sides.Flags
	Output      output.Flags
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	f := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "history ROUTE --snapshots DIR",
		Short: "Show when what is in force on a route changed, and which object changed it",
		Long: `Read the snapshots of a folder by time and show when the effective policies of a route, or of one rule of it, changed, and which
object's change caused it.

The snapshots are those that "kubectl dopolicy snapshot" writes, of one cluster; --snapshots takes a folder or a pattern. The time of a
snapshot is that in its header, else that in its file name (2026-01-31T12-00-05Z), else when the file was changed. What changed and
changed back between two snapshots is not seen.`,
		Example: `  # since when is this route limited, and by whose change?
  kubectl dopolicy history cart --snapshots /mnt/snapshots/prod

  # one rule, only one policy kind
  kubectl dopolicy history httproute/cart/checkout -n shop --policy-kind authpolicy --snapshots 'prod-2026-01-*.tgz'

  # what changed in all routes between two times
  kubectl dopolicy diff --at 2026-01-31 --at 2026-02-01 --snapshots /mnt/snapshots/prod`,
		Args: command.CheckArguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = args
			return Run(cmd.Context(), f)
		},
	}
	f.Output.AddFlags(cmd, []string{"table", "wide", "yaml", "json", "ndjson"})
	f.Output.AddTableFlags(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.Output.Check(cmd.Flags().Changed("output")) }
	f.Sides.Source.Cluster.Config = &source.KubeconfigFlags{} // no cluster is asked
	fs := cmd.Flags()
	fs.StringVar(&f.Sides.Snapshots, "snapshots", "",
		"folder with snapshots of one cluster, or a pattern of their names")
	fs.StringVarP(&f.Sides.Source.Namespace, "namespace", "n", "", "namespace of the route (default: any)")
	fs.StringSliceVar(&f.Sides.Source.OnlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	fs.StringArrayVar(&f.Sides.Source.PolicyKinds, "policy-kinds", nil,
		"file with policy kind descriptors, which replace built-in ones (repeatable)")
	fs.StringArrayVar(&f.Sides.Source.Settings, "vendor-setting", nil,
		"vendor setting that changes results, as VENDOR.NAME=VALUE (repeatable; listed in docs/policy-kinds.md)")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// Run reads the snapshots and says what changed.
func Run(ctx context.Context, f *Options) error {
	s := f.Environment.Streams
	moments, err := sides.ListSnapshots(f.Sides.Snapshots)
	if err != nil {
		return err
	}
	engine, err := f.Sides.Source.Engine(ctx, f.Environment)
	if err != nil {
		return err
	}
	h := &historyReader{flags: f, reader: &sides.Reader{Flags: &f.Sides, Engine: engine, Streams: s}, args: f.Args,
		answer: &history.History{Snapshots: len(moments), From: moments[0].FormatTime(),
			To: moments[len(moments)-1].FormatTime()}}
	for _, m := range moments {
		if err := h.readNext(ctx, m); err != nil {
			return err
		}
	}
	if h.target == nil {
		return h.missing
	}
	h.answer.Target = *h.target
	out := history.New(h.answer, h.problems)
	return f.Output.Write(s, h.last, "", out, &out.Envelope)
}

// historyReader reads snapshots in turn and collects what changed. It holds two of them at a time.
type historyReader struct {
	flags    *Options
	reader   *sides.Reader
	args     []string
	target   *model.Ref      // nil: no snapshot had it yet
	missing  error           // why not
	last     *source.Session // nil: this is the first
	lastAt   sides.Snapshot
	cluster  string
	answer   *history.History
	problems []model.Problem
}

// readNext reads a snapshot and compares it with the one before.
func (h *historyReader) readNext(ctx context.Context, m sides.Snapshot) error {
	in, err := h.reader.Read(ctx, sides.Side{Text: m.Path})
	switch {
	case ctx.Err() != nil:
		return failure.NoAnswer("interrupted", "")
	case err != nil:
		why := failure.Describe(err)
		h.problems = append(h.problems, model.Problem{Severity: model.Error, Code: model.ClusterFailed,
			Message: "the snapshot of " + m.FormatTime() +
				" cannot be read, what changed since the one before it is told with the next: " +
				why.What, Hint: why.Hint})
		return nil
	}
	if in.Cluster == nil {
		return failure.NoAnswer(m.Path+" is not a snapshot of a cluster",
			"take snapshots with: kubectl dopolicy snapshot -o FILE")
	}
	if h.cluster != "" && in.Cluster.Context != h.cluster {
		return failure.NoAnswer(m.Path+" is of cluster "+in.Cluster.Context+", and those before it are of "+h.cluster,
			"keep the snapshots of each cluster in a folder of its own, or name them with a pattern")
	}
	h.cluster = in.Cluster.Context
	session := h.reader.Resolve(in)
	if err := h.findTarget(session); err != nil {
		return err
	}
	last, lastAt := h.last, h.lastAt
	h.last, h.lastAt = session, m
	if last == nil {
		h.keepProblems(session.Snapshot.Problems)
		return nil
	}
	if h.target == nil {
		return nil
	}
	return h.compareSnapshots(last, session, lastAt, m)
}

// findTarget finds the object that the arguments name, in the first snapshot that has it.
func (h *historyReader) findTarget(s *source.Session) error {
	if h.target != nil {
		return nil
	}
	s.Streams.Err = io.Discard // what could not be read of one of the snapshots is among the problems
	ref, _, err := s.FindTarget(strings.Join(h.args, "/"))
	var use *failure.UsageError
	var none *failure.NoAnswerError
	switch {
	case err == nil:
		h.target = &ref
		h.flags.Sides.Source.Namespace = ref.Namespace
	case errors.As(err, &use), errors.As(err, &none):
		h.missing = err
	default:
		return err
	}
	return nil
}

// compareSnapshots notes what changed at the target.
func (h *historyReader) compareSnapshots(before, after *source.Session, since, at sides.Snapshot) error {
	kinds, err := h.flags.Sides.FindKinds(before, after)
	if err != nil {
		return err
	}
	query := diff.Query{Kinds: kinds, Namespace: h.target.Namespace, PoliciesOnly: true}
	diff := dopolicy.Diff(before.Input, after.Input, query)
	h.keepProblems(diff.Problems)
	var items []history.HistoryChange
	for i := range diff.Items {
		if diff.Items[i].IsAbout(*h.target) {
			items = append(items, history.HistoryChange{Since: since.FormatTime(), At: at.FormatTime(), File: at.Path,
				PolicyChange: diff.Items[i], By: []history.ObjectChange{}})
		}
	}
	if len(items) > 0 {
		(&blame{reader: h.reader, before: before, after: after, query: query, items: items}).attributeChanges()
	}
	h.answer.Items = append(h.answer.Items, items...)
	return nil
}

// keepProblems keeps the problems that leave the answer open.
func (h *historyReader) keepProblems(problems []model.Problem) {
	for _, p := range problems {
		if p.IsIncomplete() {
			h.problems = append(h.problems, p)
		}
	}
	h.problems = model.SortProblems(h.problems)
}
