package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

func (a App) newMatrixCommand(s Streams) *cobra.Command {
	q := &queryFlags{}
	var missing []string
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
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return q.answerOrWatch(cmd, s, func(ctx context.Context, s, to Streams) error { return a.runMatrix(ctx, q, s, to, args, missing) })
	}
	q.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	q.addLabelSelector(cmd)
	q.addTable(cmd)
	q.addWatchFlag(cmd)
	cmd.Flags().StringSliceVar(&missing, "missing", nil, "only rules without this property, such as authentication, or without a policy of this kind in force; exit with 1 if there are any (repeatable)")
	a.addCompletion(cmd, &q.sourceFlags, s, proposeTargetArguments)
	completeFlag(cmd, "missing", a.proposeFromInput(&q.sourceFlags, s, (*sourceFlags).openKinds, proposePolicyKinds))
	return cmd
}

// runMatrix runs the command.
func (a App) runMatrix(ctx context.Context, q *queryFlags, s, to Streams, args, missing []string) error {
	session, err := q.openInput(ctx, a.Plugins, s)
	if err != nil {
		return err
	}
	required, properties, err := session.parseRequired(missing)
	if err != nil {
		return err
	}
	query, typed, err := q.parseQuery(session, args)
	if err != nil {
		return err
	}
	for _, gk := range query.Kinds {
		if session.Kind(gk) == nil {
			return newUsageError("name a policy kind; list them with: kubectl dopolicy kinds", "%s is not a policy kind", gk.Kind)
		}
	}
	m, err := view.Matrix(session.Resolution, view.MatrixQuery{Query: query, Required: required, Properties: properties, Cells: q.format == "table" || q.format == "name", Matcher: session.newMatcher().Matcher, Judges: q.requestJudges(a.Plugins)})
	if err != nil {
		return err
	}
	if len(required)+len(properties) > 0 && m.Rules == 0 {
		if err := session.printUnread(); err != nil {
			return err
		}
		return &noAnswerError{"no route rule " + session.describeScope() + " gets traffic: there is nothing to look at", "check what is read: -f, -R, -n, -A, -l, TARGET"}
	}
	if err := q.writeWithProblems(to, session, typed, m, &m.Envelope); err != nil {
		return err
	}
	if m.HasFindings() {
		return errFindings
	}
	return nil
}

// parseRequired reads what must not be missing: properties of requests, and for each other name all
// policy kinds that it may mean.
func (s *session) parseRequired(names []string) (kinds [][]model.GroupKind, properties []view.RequestProperty, err error) {
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
