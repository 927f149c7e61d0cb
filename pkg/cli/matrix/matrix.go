package matrix

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string
	Query       command.Query
	Missing     []string // properties and policy kinds that no rule may lack
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "matrix [TARGET]",
		Short: "Show all route rules with their policies, and which rules have no authentication, or no policy of a kind",
		Long: `Show route rules as rows and policy kinds as columns. A cell says where the policies in force are attached:
  gateway        at this level: class, namespace, gateway, listener, route or rule
  gateway+route  at both levels
  -              no policy of the kind is on the way to the rule
  overridden     there are policies of the kind, and nothing of them is in force
  void           a policy names the rule, or something above it, and does not attach
  ?              cannot be known
  n/a            the kind does not apply to such routes
A rule with different policies on different paths has one row for each.

--missing lists only the rules that lack something:
  --missing authentication  some requests get through without it. The same for authorization, rateLimit and the other
                            properties of docs/protection.md; authentication=jwt asks for one method.
  --missing KIND            no policy of the kind is in force. What such a policy does is not looked at.
A rule that lacks it on one path only is listed with that path. A rule for which it cannot be known is listed too.

With --missing, the exit code is 1 if a rule is listed or the answer is incomplete, and 3 if there is no route rule to
look at. Objects that are not in the files, such as a Service, may exist.

TARGET is [KIND/][NAMESPACE/]NAME[/SECTION], as for effective. The columns are the kinds of the input, or those of
--policy-kind and --missing.`,
		Example: `  # which policies apply to which rule?
  kubectl dopolicy matrix -A

  # which route rules let requests in without a login?
  kubectl dopolicy matrix -A --missing authentication

  # the same, in CI, and without a limit of the rate
  kubectl dopolicy matrix -f manifests/ --missing authentication --missing rateLimit

  # which route rules have no AuthPolicy, whatever that would do?
  kubectl dopolicy matrix -A --missing AuthPolicy

  # for Prometheus: how many rules of each namespace have no limit of the rate (docs/metrics.md)
  kubectl dopolicy matrix -A --missing rateLimit -o openmetrics

  # everything that comes through a gateway
  kubectl dopolicy matrix gateway/external -n infra`,
		Args: command.CheckArguments(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name", "openmetrics")
	o.Query.AddLabelSelector(cmd)
	o.Query.Output.AddTableFlags(cmd)
	o.Query.AddWatchFlag(cmd)
	cmd.Flags().StringSliceVar(&o.Missing, "missing", nil,
		"only rules without this property, such as authentication, or without a policy of this kind in force; exit with 1 if there are any (repeatable)")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, completion.ProposeTargetArguments)
	completion.AddToFlag(cmd, "missing", completion.FromInput(o.Environment, &o.Query.Source,
		(*source.Flags).OpenKinds, completion.ProposePolicyKinds))
	return cmd
}

// Run answers, again and again with --watch.
func Run(ctx context.Context, o *Options) error {
	return o.Query.AnswerOrWatch(ctx, o.Environment.Streams, o.answerOnce)
}

// answerOnce answers once.
func (o *Options) answerOnce(ctx context.Context, to run.Streams) error {
	q := &o.Query
	if q.Output.IsFormat(render.OpenMetrics) {
		if err := q.Output.SetProgramFacts(o.Environment.Build); err != nil {
			return err
		}
	}
	session, err := q.Source.Open(ctx, o.Environment)
	if err != nil {
		return err
	}
	required, properties, err := parseRequired(session, o.Missing)
	if err != nil {
		return err
	}
	query, typed, err := q.Parse(session, o.Args)
	if err != nil {
		return err
	}
	for _, gk := range query.Kinds {
		if session.Kind(gk) == nil {
			return failure.Usage("name a policy kind; list them with: kubectl dopolicy kinds",
				"%s is not a policy kind", gk.Kind)
		}
	}
	m, err := session.Matrix(matrix.Query{Query: query, Required: required, Properties: properties,
		Cells: q.Output.Format == "table" || q.Output.Format == "name"})
	if err != nil {
		return err
	}
	if len(required)+len(properties) > 0 && m.Rules == 0 {
		if err := session.PrintUnread(); err != nil {
			return err
		}
		return failure.NoAnswer("no route rule "+session.DescribeScope()+" gets traffic: there is nothing to look at",
			"check what is read: -f, -R, -n, -A, -l, TARGET")
	}
	if err := q.Output.Write(to, session, typed, m, &m.Envelope); err != nil {
		return err
	}
	if m.HasFindings() {
		return failure.ErrFindings
	}
	return nil
}

// parseRequired reads what must not be missing: properties of requests, and for each other name all
// policy kinds that it may mean.
func parseRequired(s *source.Session, names []string) (kinds [][]model.GroupKind, properties []requests.Property,
	err error) {
	for _, name := range names {
		property, is, err := source.ParseProperty(name)
		if err != nil {
			return nil, nil, err
		}
		if is {
			properties = append(properties, property)
			continue
		}
		named := s.FindPolicyKinds(name)
		if named == nil {
			return nil, nil, s.UnknownRequirement(name)
		}
		var found []model.GroupKind
		for _, k := range named {
			if gk := k.ResolvedKind().GroupKind; matrix.HoldsAtRoutes(s.Resolution, gk) {
				found = append(found, gk)
			}
		}
		if found == nil {
			return nil, nil, failure.Usage("ask: kubectl dopolicy effective --policy-kind "+
				named[0].GroupKind.String(), "policies of kind %s are not in force at route rules",
				named[0].GroupKind.Kind)
		}
		kinds = append(kinds, found)
	}
	return kinds, properties, nil
}
