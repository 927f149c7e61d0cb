package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/output"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Query are the flags that all commands about targets have in common, and what such a command
// keeps while it runs.
type Query struct {
	Source   source.Flags
	Output   output.Flags
	Labels   string
	ShowNone bool
	Watching bool // the answer is printed again whenever it changes
}

// AddFlags adds the flags of the input and of the output; the first format is the default.
func (q *Query) AddFlags(cmd *cobra.Command, formats ...string) {
	q.Source.AddFlags(cmd)
	q.Source.NoSchemas = true
	q.Output.AddFlags(cmd, formats)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return q.Output.Check(cmd.Flags().Changed("output")) }
}

// AddLabelSelector adds -l.
func (q *Query) AddLabelSelector(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&q.Labels, "selector", "l", "", "label selector for the targets to show")
}

// Parse reads the arguments into a view's query; typed is the target as it can be named again.
func (q *Query) Parse(s *source.Session, args []string) (query view.Query, typed string, err error) {
	sel, err := source.ParseSelector(q.Labels)
	if err != nil {
		return query, "", err
	}
	if len(args) > 0 && q.Labels != "" {
		return query, "", failure.Usage("drop one of the two", "a name and a selector cannot be given together")
	}
	if len(args) == 0 {
		if err := s.CheckNamespace(); err != nil {
			return query, "", err
		}
	}
	var ref model.Ref
	var others []string
	if query.Ingresses, others = s.CutIngresses(args); len(query.Ingresses) > 0 && len(others) == 0 {
		query.Targets = []topology.NodeID{}
		if len(query.Ingresses) == 1 {
			ref = query.Ingresses[0]
		}
	} else if query.Targets, ref, err = s.FindTargets(others, sel); err != nil {
		return query, "", err
	}
	if len(args) == 0 && query.Targets != nil && q.Labels == "" {
		query.Ingresses = s.IngressesInNamespace()
	}
	if len(args) == 0 {
		q.Output.EmptyMessage = s.DescribeEmpty(query.Targets, q.Labels)
	}
	if query.Kinds, err = s.SelectedKinds(); err != nil {
		return query, "", err
	}
	if len(args) > 0 || !sel.IsEmpty() {
		query.Through = s.FilterAboveRoutes(query.Targets)
	}
	if query.Through != nil && ref.Name != "" {
		q.Output.Scope = []string{"--target", ref.String()}
	}
	query.ShowNone = q.ShowNone
	if !q.Source.AllNamespaces && len(args) == 0 {
		query.Namespace = q.Source.Namespace
	}
	return query, source.FormatTypedRef(ref), nil
}

// ViewFunc makes the view of a session that answers a query.
type ViewFunc func(s *source.Session, query view.Query) (render.View, *view.Envelope, error)

// Answer reads the input and answers a query once; the answer is written to the streams.
func (q *Query) Answer(ctx context.Context, env run.Environment, to run.Streams, answer ViewFunc, args []string) error {
	session, err := q.Source.Open(ctx, env)
	if err != nil {
		return err
	}
	query, typed, err := q.Parse(session, args)
	if err != nil {
		return err
	}
	v, envelope, err := answer(session, query)
	if err != nil {
		return err
	}
	return q.Output.Write(to, session, typed, v, envelope)
}
