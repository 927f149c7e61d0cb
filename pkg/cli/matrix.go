package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// matrixOptions are what the flags and arguments of the command say.
type matrixOptions struct {
	Environment environment
	Args        []string
	Query       queryFlags
	Missing     []string // properties and policy kinds that no rule may lack
}

// newMatrixCommand makes the command.
func newMatrixCommand(env environment) *cobra.Command {
	o := &matrixOptions{Environment: env}
	cmd := &cobra.Command{
		Use:   "matrix [TARGET]",
		Short: "Show who governs each route rule, one column for each policy kind, and which rules have no policy of a kind",
		Long: `Show route rules as lines and policy kinds as columns. A cell names the levels from which what is in force comes, such as
gateway, listener, route or rule, several as gateway+route. "-" means that no policy of the kind is in force, "lost" that nothing
of the policies there is, "void" that a policy names the rule or something above it and does not attach, and "?" that it cannot be
known. A rule with different policies on different paths has one line for each.

--missing authentication lists only the rules of which some requests get through without it, or of which that cannot be known, and
exits with 1 if there are any; so for authorization, rateLimit and every other property (docs/protection.md lists them), and
authentication=jwt asks for a method. --missing KIND asks less: whether a policy of the kind is in force, whatever it does. A rule
that has what is asked for on one path and not on another is listed for the other path. It also exits with 1 if the answer is
incomplete, and with 3 if there is no route rule to look at. What is only absent from the files, such as a Service, may exist.

TARGET is written as for 'effective'. The columns are the kinds of the input, or those of --policy-kind and --missing.`,
		Example: `  # who governs what?
  kubectl dopolicy matrix -A

  # which route rules let requests in without a login?
  kubectl dopolicy matrix -A --missing authentication

  # the same, in CI, and without a limit of the rate
  kubectl dopolicy matrix -f manifests/ --missing authentication --missing rateLimit

  # which route rules have no AuthPolicy, whatever that would do?
  kubectl dopolicy matrix -A --missing AuthPolicy

  # everything that comes through a gateway
  kubectl dopolicy matrix gateway/external -n infra`,
		Args: checkArgumentCount(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return runMatrix(cmd.Context(), o)
		},
	}
	o.Query.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.addLabelSelector(cmd)
	o.Query.Output.addTable(cmd)
	o.Query.addWatchFlag(cmd)
	cmd.Flags().StringSliceVar(&o.Missing, "missing", nil, "only rules without this property, such as authentication, or without a policy of this kind in force; exit with 1 if there are any (repeatable)")
	addCompletion(cmd, o.Environment, &o.Query.Source, proposeTargetArguments)
	completeFlag(cmd, "missing", proposeFromInput(o.Environment, &o.Query.Source, (*sourceFlags).openKinds, proposePolicyKinds))
	return cmd
}

// runMatrix answers, again and again with --watch.
func runMatrix(ctx context.Context, o *matrixOptions) error {
	return o.Query.answerOrWatch(ctx, o.Environment.Streams, o.answer)
}

// answer answers once.
func (o *matrixOptions) answer(ctx context.Context, to Streams) error {
	q := &o.Query
	session, err := q.Source.openInput(ctx, o.Environment)
	if err != nil {
		return err
	}
	required, properties, err := parseRequired(session, o.Missing)
	if err != nil {
		return err
	}
	query, typed, err := q.parseQuery(session, o.Args)
	if err != nil {
		return err
	}
	for _, gk := range query.Kinds {
		if session.Kind(gk) == nil {
			return newUsageError("name a policy kind; list them with: kubectl dopolicy kinds", "%s is not a policy kind", gk.Kind)
		}
	}
	m, err := session.Matrix(view.MatrixQuery{Query: query, Required: required, Properties: properties, Cells: q.Output.format == "table" || q.Output.format == "name"})
	if err != nil {
		return err
	}
	if len(required)+len(properties) > 0 && m.Rules == 0 {
		if err := session.printUnread(); err != nil {
			return err
		}
		return newNoAnswerError("no route rule "+session.describeScope()+" gets traffic: there is nothing to look at", "check what is read: -f, -R, -n, -A, -l, TARGET")
	}
	if err := q.Output.writeWithProblems(to, session, typed, m, &m.Envelope); err != nil {
		return err
	}
	if m.HasFindings() {
		return errFindings
	}
	return nil
}

// parseRequired reads what must not be missing: properties of requests, and for each other name all
// policy kinds that it may mean.
func parseRequired(s *session, names []string) (kinds [][]model.GroupKind, properties []view.RequestProperty, err error) {
	for _, name := range names {
		property, is, err := parseProperty(name)
		if err != nil {
			return nil, nil, err
		}
		if is {
			properties = append(properties, property)
			continue
		}
		named := s.findPolicyKinds(name)
		if named == nil {
			return nil, nil, s.unknownRequirement(name)
		}
		var found []model.GroupKind
		for _, k := range named {
			if gk := k.ResolvedKind().GroupKind; view.HoldsAtRoutes(s.Resolution, gk) {
				found = append(found, gk)
			}
		}
		if found == nil {
			return nil, nil, newUsageError("ask: kubectl dopolicy effective --policy-kind "+named[0].GroupKind.String(), "policies of kind %s are not in force at route rules", named[0].GroupKind.Kind)
		}
		kinds = append(kinds, found)
	}
	return kinds, properties, nil
}
