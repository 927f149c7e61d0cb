package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// queryFlags are the flags that all commands about targets have in common, and what such a command
// keeps while it runs.
type queryFlags struct {
	Source   sourceFlags
	Output   outputFlags
	labels   string
	showNone bool
	watching bool // the answer is printed again whenever it changes
}

// addFlags adds the flags of the input and of the output; the first format is the default.
func (q *queryFlags) addFlags(cmd *cobra.Command, formats ...string) {
	q.Source.addSourceFlags(cmd)
	q.Source.noSchemas = true
	q.Output.addOutputFlags(cmd, formats)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return q.Output.checkOutput(cmd.Flags().Changed("output")) }
}

// addLabelSelector adds -l.
func (q *queryFlags) addLabelSelector(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&q.labels, "selector", "l", "", "label selector for the targets to show")
}

// parseQuery reads the arguments into a view's query; typed is the target as it can be named again.
func (q *queryFlags) parseQuery(s *session, args []string) (query view.Query, typed string, err error) {
	sel, err := parseSelector(q.labels)
	if err != nil {
		return query, "", err
	}
	if len(args) > 0 && q.labels != "" {
		return query, "", newUsageError("drop one of the two", "a name and a selector cannot be given together")
	}
	if len(args) == 0 {
		if err := s.checkNamespace(); err != nil {
			return query, "", err
		}
	}
	var ref model.Ref
	if query.Targets, ref, err = s.findTargets(args, sel); err != nil {
		return query, "", err
	}
	if len(args) == 0 {
		q.Output.emptyMessage = s.describeEmpty(query.Targets, q.labels)
	}
	if query.Kinds, err = s.selectedKinds(); err != nil {
		return query, "", err
	}
	if len(args) > 0 || !sel.isEmpty() {
		query.Through = s.filterAboveRoutes(query.Targets)
	}
	if query.Through != nil && ref.Name != "" {
		q.Output.scope = []string{"--target", formatTypedRef(ref)}
		if ref.Namespace != "" {
			q.Output.scope = append(q.Output.scope, "-n", ref.Namespace)
		}
	}
	query.ShowNone = q.showNone
	if !q.Source.allNamespaces {
		query.Namespace = q.Source.namespace
	}
	return query, formatTypedRef(ref), nil
}

// viewFunc makes the view of a session that answers a query.
type viewFunc func(s *session, query view.Query) (render.View, *view.Envelope, error)

// answerQuery reads the input and answers a query once; the answer is written to the streams.
func (q *queryFlags) answerQuery(ctx context.Context, env environment, to Streams, answer viewFunc, args []string) error {
	session, err := q.Source.openInput(ctx, env)
	if err != nil {
		return err
	}
	query, typed, err := q.parseQuery(session, args)
	if err != nil {
		return err
	}
	v, envelope, err := answer(session, query)
	if err != nil {
		return err
	}
	return q.Output.writeWithProblems(to, session, typed, v, envelope)
}

// formatTypedRef names an object as the command line takes it.
func formatTypedRef(ref model.Ref) string {
	if ref.Name == "" {
		return ""
	}
	s := lowerKind(ref) + "/" + ref.Name
	if ref.Section != "" {
		s += "/" + ref.Section
	}
	return s
}
