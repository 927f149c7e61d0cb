package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// historyOptions name the target and the snapshots: of the flags about sides those that matter.
type historyOptions struct {
	Environment environment
	Args        []string
	Sides       sideFlags
	Output      outputFlags
}

// newHistoryCommand makes the command.
func newHistoryCommand(env environment) *cobra.Command {
	f := &historyOptions{Environment: env}
	cmd := &cobra.Command{
		Use:   "history ROUTE --snapshots DIR",
		Short: "Show when the effective policies of a route changed, and by which object's change",
		Long: `Read the snapshots of a folder by time and show when the effective policies of a route, or of one rule of it, changed, and by which
object's change: that object without whose change it would not have changed.

The snapshots are those that "kubectl dopolicy snapshot" writes, of one cluster; --snapshots takes a folder or a pattern. The time of a
snapshot is that in its header, else that in its file name (2026-01-31T12-00-05Z), else when the file was changed. What changed and
changed back between two snapshots is not seen.`,
		Example: `  # since when is this route limited, and by whose change?
  kubectl dopolicy history cart --snapshots /mnt/snapshots/prod

  # one rule, only one policy kind
  kubectl dopolicy history httproute/cart/checkout -n shop --policy-kind authpolicy --snapshots 'prod-2026-01-*.tgz'

  # what changed in all routes between two times
  kubectl dopolicy diff --at 2026-01-31 --at 2026-02-01 --snapshots /mnt/snapshots/prod`,
		Args: checkArgumentCount(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = args
			return runHistory(cmd.Context(), f)
		},
	}
	f.Output.addOutputFlags(cmd, []string{"table", "wide", "yaml", "json", "ndjson"})
	f.Output.addTable(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.Output.checkOutput(cmd.Flags().Changed("output")) }
	f.Sides.Source.cluster.config = &kubeconfigFlags{} // no cluster is asked
	fs := cmd.Flags()
	fs.StringVar(&f.Sides.snapshots, "snapshots", "", "folder with snapshots of one cluster, or a pattern of their names")
	fs.StringVarP(&f.Sides.Source.namespace, "namespace", "n", "", "namespace of the route (default: any)")
	fs.StringSliceVar(&f.Sides.Source.onlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	fs.StringArrayVar(&f.Sides.Source.policyKinds, "policy-kinds", nil, "file with policy kind descriptors, which replace built-in ones (repeatable)")
	fs.StringArrayVar(&f.Sides.Source.settings, "vendor-setting", nil, "vendor setting that changes results, as VENDOR.NAME=VALUE (repeatable; listed in docs/policy-kinds.md)")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// runHistory reads the snapshots and says what changed.
func runHistory(ctx context.Context, f *historyOptions) error {
	s := f.Environment.Streams
	moments, err := listSnapshots(f.Sides.snapshots)
	if err != nil {
		return err
	}
	engine, err := f.Sides.Source.engine(f.Environment)
	if err != nil {
		return err
	}
	h := &historyReader{flags: f, reader: &sideReader{flags: &f.Sides, engine: engine, streams: s}, args: f.Args,
		answer: &view.History{Snapshots: len(moments), From: moments[0].formatTime(), To: moments[len(moments)-1].formatTime()}}
	for _, m := range moments {
		if err := h.readNext(ctx, m); err != nil {
			return err
		}
	}
	if h.target == nil {
		return h.missing
	}
	h.answer.Target = *h.target
	out := view.NewHistory(h.answer, h.problems)
	return f.Output.writeWithProblems(s, h.last, "", out, &out.Envelope)
}

// historyReader reads snapshots in turn and collects what changed. It holds two of them at a time.
type historyReader struct {
	flags    *historyOptions
	reader   *sideReader
	args     []string
	target   *model.Ref // nil: no snapshot had it yet
	missing  error      // why not
	last     *session   // nil: this is the first
	lastAt   datedSnapshot
	cluster  string
	answer   *view.History
	problems []model.Problem
}

// readNext reads a snapshot and compares it with the one before.
func (h *historyReader) readNext(ctx context.Context, m datedSnapshot) error {
	in, err := h.reader.readSide(ctx, diffSide{text: m.path})
	switch {
	case ctx.Err() != nil:
		return newNoAnswerError("interrupted", "")
	case err != nil:
		why := describeError(err)
		h.problems = append(h.problems, model.Problem{Severity: model.Error, Code: model.ClusterFailed, Message: "the snapshot of " + m.formatTime() + " cannot be read, what changed since the one before it is told with the next: " + why.what, Hint: why.hint})
		return nil
	}
	if in.Cluster == nil {
		return newNoAnswerError(m.path+" is not a snapshot of a cluster", "take snapshots with: kubectl dopolicy snapshot -o FILE")
	}
	if h.cluster != "" && in.Cluster.Context != h.cluster {
		return newNoAnswerError(m.path+" is of cluster "+in.Cluster.Context+", and those before it are of "+h.cluster, "keep the snapshots of each cluster in a folder of its own, or name them with a pattern")
	}
	h.cluster = in.Cluster.Context
	session := h.reader.resolveSide(in)
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
func (h *historyReader) findTarget(s *session) error {
	if h.target != nil {
		return nil
	}
	s.streams.Err = io.Discard // what could not be read of one of the snapshots is among the problems
	ref, _, err := s.findTarget(h.args)
	var use *usageError
	var none *noAnswerError
	switch {
	case err == nil:
		h.target = &ref
		h.flags.Sides.Source.namespace = ref.Namespace
	case errors.As(err, &use), errors.As(err, &none):
		h.missing = err
	default:
		return err
	}
	return nil
}

// compareSnapshots notes what changed at the target.
func (h *historyReader) compareSnapshots(before, after *session, since, at datedSnapshot) error {
	kinds, err := h.flags.Sides.findSideKinds(before, after)
	if err != nil {
		return err
	}
	query := view.DiffQuery{Kinds: kinds, Namespace: h.target.Namespace, PoliciesOnly: true}
	diff := dopolicy.Diff(before.Input, after.Input, query)
	h.keepProblems(diff.Problems)
	var items []view.HistoryChange
	for i := range diff.Items {
		if diff.Items[i].IsAbout(*h.target) {
			items = append(items, view.HistoryChange{Since: since.formatTime(), At: at.formatTime(), File: at.path, PolicyChange: diff.Items[i], By: []view.ObjectChange{}})
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
