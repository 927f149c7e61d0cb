package status

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	viewstatus "github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// errNothingReported is what an audit of manifests comes to.
var errNothingReported = failure.NoAnswer("no object has a status: there is nothing to audit",
	"audit a cluster (without -f), a snapshot of one (kubectl dopolicy snapshot), or files from: kubectl get -o yaml")

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string
	Query       command.Query
	All         bool // routes, gateways and listeners as well
	Audit       bool // only what differs from the statuses that objects report
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "status [POLICY…]",
		Short: "Show whether policies are accepted, and whether they are in force everywhere, partly or nowhere",
		Long: `Predict the status a controller would write: for each policy, whether it is accepted, and as a note every condition that is
not as it should be. IN FORCE counts where the policy is in force, whether or not its controller reports that: yes, partly,
no, or unknown, with the route rules or other targets that it stands above. TARGET names what
the policy refers to, or what its selectors select. --all adds the conditions of routes (per parent), gateways and listeners, and
the conditions that policies set on them. -A without a name implies --all.

Where reported statuses differ from the prediction, audit says (status --audit is the same). Conditions that depend on more
than the objects, such as data planes and certificates, are not predicted.`,
		Example: `  # all policies in a namespace
  kubectl dopolicy status -n infra -f manifests/

  # one policy
  kubectl dopolicy status authpolicy/gw-auth -f manifests/

  # everything, for programs
  kubectl dopolicy status -A -f manifests/ -o json

  # where does the reported status differ from the prediction?
  kubectl dopolicy audit -A

  # in the cluster, and again on every change
  kubectl dopolicy status -n infra -w`,
		Args: command.CheckArguments(0, command.Many),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, Formats()...)
	o.Query.Output.AddTableFlags(cmd)
	o.Query.AddWatchFlag(cmd)
	cmd.Flags().BoolVar(&o.Audit, "audit", false,
		"the same as the command audit")
	// what audit does: it fails only for a flag that the command does not have
	_ = cmd.Flags().MarkHidden("audit")
	cmd.Flags().BoolVar(&o.All, "all", false, "also predict routes, gateways and listeners")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source,
		completion.ProposeForWord(completion.ProposePolicies))
	return cmd
}

// Formats are the forms in which statuses can be written.
func Formats() []string { return []string{"table", "wide", "yaml", "json", "ndjson", "name"} }

// Run answers, again and again with --watch.
func Run(ctx context.Context, o *Options) error {
	return o.Query.AnswerOrWatch(ctx, o.Environment.Streams, o.Answer)
}

// Answer answers once.
func (o *Options) Answer(ctx context.Context, to run.Streams) error {
	q, args := &o.Query, o.Args
	if o.Audit && q.Source.OverLive {
		return failure.Usage("drop one of the two: statuses do not reflect files that are not applied yet",
			"--audit cannot be given with --live")
	}
	session, err := q.Source.Open(ctx, o.Environment)
	if err != nil {
		return err
	}
	if o.Audit && session.Snapshot.Cluster == nil && !status.HasStatus(session.Snapshot, session.Kinds) {
		return errNothingReported
	}
	query := viewstatus.Query{Objects: o.All || q.Source.AllNamespaces && len(args) == 0, Audit: o.Audit}
	if query.Kinds, err = session.SelectedKinds(); err != nil {
		return err
	}
	if q.Source.Namespace != "" && !q.Source.AllNamespaces {
		query.InNamespace = func(namespace string) bool { return namespace == q.Source.Namespace }
	}
	if len(args) == 0 {
		if err := session.CheckNamespace(); err != nil {
			return err
		}
	}
	named, err := session.FindPolicies(args)
	if err != nil {
		return err
	}
	for i, n := range named {
		if n.Rule != "" {
			return failure.Usage("status is about whole policies; use `reach` for a rule", "%q names a rule", args[i])
		}
		query.Policies = append(query.Policies, n.Policy)
	}
	list := session.Status(query)
	if err := q.Output.Write(to, session, "", list, &list.Envelope); err != nil {
		return err
	}
	switch {
	case !o.Audit:
		return nil
	case list.Summary.Differ > 0:
		return failure.ErrFindings
	case list.Summary.Agree == 0:
		return failure.ErrNothingCompared
	}
	return nil
}
