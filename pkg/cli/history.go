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

// historyFlags are of those of diff the ones that name what is asked about, and the snapshots.
type historyFlags struct{ diffFlags }

func historyCmd(a App, s Streams) *cobra.Command {
	f := &historyFlags{}
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
		Args: takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, s, args) },
	}
	f.outputFlags.add(cmd, []string{"table", "wide", "yaml", "json", "ndjson"})
	f.addTable(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed("output")) }
	f.config = &kubeconfigFlags{} // no cluster is asked
	fs := cmd.Flags()
	fs.StringVar(&f.timeline, "snapshots", "", "folder with snapshots of one cluster, or a pattern of their names")
	fs.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the route (default: any)")
	fs.StringSliceVar(&f.onlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	fs.StringArrayVar(&f.policyKinds, "policy-kinds", nil, "file with policy kind descriptors, which replace built-in ones (repeatable)")
	fs.StringArrayVar(&f.settings, "vendor-setting", nil, "vendor setting that changes results, as VENDOR.NAME=VALUE (repeatable; listed in docs/policy-kinds.md)")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// run is the whole of the command.
func (f *historyFlags) run(ctx context.Context, a App, s Streams, args []string) error {
	moments, err := timeline(f.timeline)
	if err != nil {
		return err
	}
	engine, err := f.engine(a.Plugins, s)
	if err != nil {
		return err
	}
	h := &historian{flags: f, reader: &sideReader{flags: &f.diffFlags, engine: engine, streams: s}, args: args,
		answer: &view.History{Snapshots: len(moments), From: moments[0].text(), To: moments[len(moments)-1].text()}}
	for _, m := range moments {
		if err := h.next(ctx, m); err != nil {
			return err
		}
	}
	if h.target == nil {
		return h.missing
	}
	h.answer.Target = *h.target
	out := view.NewHistory(h.answer, h.problems)
	return f.write(s, h.last, "", out, &out.Envelope)
}

// historian goes through snapshots. It holds two of them at a time.
type historian struct {
	flags    *historyFlags
	reader   *sideReader
	args     []string
	target   *model.Ref // nil: no snapshot had it yet
	missing  error      // why not
	last     *session   // nil: this is the first
	lastAt   moment
	cluster  string
	answer   *view.History
	problems []model.Problem
}

// next reads a snapshot, and holds it against the one before.
func (h *historian) next(ctx context.Context, m moment) error {
	in, err := h.reader.read(ctx, sideOf{text: m.path})
	switch {
	case ctx.Err() != nil:
		return &noAnswer{"interrupted", ""}
	case err != nil:
		why := failure(err)
		h.problems = append(h.problems, model.Problem{Severity: model.Error, Code: model.ClusterFailed, Message: "the snapshot of " + m.text() + " cannot be read, what changed since the one before it is told with the next: " + why.what, Hint: why.hint})
		return nil
	}
	if in.Cluster == nil {
		return &noAnswer{m.path + " is not a snapshot of a cluster", "take snapshots with: kubectl dopolicy snapshot -o FILE"}
	}
	if h.cluster != "" && in.Cluster.Context != h.cluster {
		return &noAnswer{m.path + " is of cluster " + in.Cluster.Context + ", and those before it are of " + h.cluster, "keep the snapshots of each cluster in a folder of its own, or name them with a pattern"}
	}
	h.cluster = in.Cluster.Context
	session := h.reader.resolve(in)
	if err := h.find(session); err != nil {
		return err
	}
	last, lastAt := h.last, h.lastAt
	h.last, h.lastAt = session, m
	if last == nil {
		h.take(session.Snapshot.Problems)
		return nil
	}
	if h.target == nil {
		return nil
	}
	return h.compare(last, session, lastAt, m)
}

// find finds out which object is meant, in the first snapshot that has it.
func (h *historian) find(s *session) error {
	if h.target != nil {
		return nil
	}
	s.streams.Err = io.Discard // what could not be read of one of the snapshots is among the problems
	ref, _, err := s.target(h.args)
	var use *usageError
	var none *noAnswer
	switch {
	case err == nil:
		h.target = &ref
		h.flags.namespace = ref.Namespace
	case errors.As(err, &use), errors.As(err, &none):
		h.missing = err
	default:
		return err
	}
	return nil
}

// compare takes down what changed at the target.
func (h *historian) compare(before, after *session, since, at moment) error {
	kinds, err := h.flags.kindsOf(before, after)
	if err != nil {
		return err
	}
	query := view.DiffQuery{Kinds: kinds, Namespace: h.target.Namespace, PoliciesOnly: true}
	diff := dopolicy.Diff(before.Input, after.Input, query)
	h.take(diff.Problems)
	var items []view.HistoryChange
	for i := range diff.Items {
		if diff.Items[i].About(*h.target) {
			items = append(items, view.HistoryChange{Since: since.text(), At: at.text(), File: at.path, PolicyChange: diff.Items[i], By: []view.ObjectChange{}})
		}
	}
	if len(items) > 0 {
		(&blame{reader: h.reader, before: before, after: after, query: query, items: items}).find()
	}
	h.answer.Items = append(h.answer.Items, items...)
	return nil
}

// take keeps the problems that leave the answer open.
func (h *historian) take(problems []model.Problem) {
	for _, p := range problems {
		if p.Incomplete() {
			h.problems = append(h.problems, p)
		}
	}
	h.problems = model.SortProblems(h.problems)
}
