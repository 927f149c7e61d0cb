package cli

import (
	"context"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

// question is what all commands about targets have in common.
type question struct {
	sourceFlags
	outputFlags
	labels   string
	showNone bool
	again    bool              // the answer is printed again whenever it changes
	dot      render.DOTOptions // how graph draws
	nothing  string            // what to say if the answer has no content, because no route was selected
	scope    []string          // how `overridden` names what was asked about, where the answer alone does not tell
}

func (q *question) add(cmd *cobra.Command, formats ...string) {
	q.sourceFlags.add(cmd)
	q.noSchemas = true
	q.outputFlags.add(cmd, formats)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return q.check(cmd.Flags().Changed("output")) }
}

func (q *question) addLabels(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&q.labels, "selector", "l", "", "label selector for the targets to show")
}

// query reads the arguments into a view's query; typed is the target as it can be named again.
func (q *question) query(s *session, args []string) (query view.Query, typed string, err error) {
	sel, err := parseSelector(q.labels)
	if err != nil {
		return query, "", err
	}
	if len(args) > 0 && q.labels != "" {
		return query, "", usage("drop one of the two", "a name and a selector cannot be given together")
	}
	if len(args) == 0 {
		if err := (selection{s}).known(); err != nil {
			return query, "", err
		}
	}
	var ref model.Ref
	if query.Targets, ref, err = s.targets(args, sel); err != nil {
		return query, "", err
	}
	if len(args) == 0 {
		q.nothing = selection{s}.nothing(query.Targets, q.labels)
	}
	if query.Kinds, err = s.kinds(); err != nil {
		return query, "", err
	}
	if len(args) > 0 || !sel.empty() {
		query.Through = s.aboveRoutes(query.Targets)
	}
	if query.Through != nil && ref.Name != "" {
		q.scope = []string{"--target", typedRef(ref)}
		if ref.Namespace != "" {
			q.scope = append(q.scope, "-n", ref.Namespace)
		}
	}
	query.ShowNone = q.showNone
	if !q.allNamespaces {
		query.Namespace = q.namespace
	}
	return query, typedRef(ref), nil
}

// answer makes a view of a session and what was asked about.
type answer func(s *session, query view.Query) (render.View, *view.Envelope, error)

// ask answers once: reading uses one pair of streams, the answer is written to the other.
func (a App) ask(ctx context.Context, q *question, s, to Streams, answer answer, args []string) error {
	session, err := q.open(ctx, a.Plugins, s)
	if err != nil {
		return err
	}
	query, typed, err := q.query(session, args)
	if err != nil {
		return err
	}
	v, envelope, err := answer(session, query)
	if err != nil {
		return err
	}
	return q.write(to, session, typed, v, envelope)
}

// typedRef names an object as the command line takes it.
func typedRef(ref model.Ref) string {
	if ref.Name == "" {
		return ""
	}
	s := lowerKind(ref) + "/" + ref.Name
	if ref.Section != "" {
		s += "/" + ref.Section
	}
	return s
}
