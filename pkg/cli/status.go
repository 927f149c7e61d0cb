package cli

import (
	"context"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

// errNothingReported is what an audit of manifests comes to.
var errNothingReported = &noAnswer{"no object reports a status: there is nothing to audit",
	"audit a cluster (without -f), a snapshot of one (kubectl dopolicy snapshot), or files from: kubectl get -o yaml"}

func (a App) statusCmd(s Streams) *cobra.Command {
	q := &question{}
	var all, audit bool
	cmd := &cobra.Command{
		Use:   "status [POLICY]",
		Short: "Predict the conditions that policies, and with --all routes, gateways and listeners, should report",
		Long: `Predict what a controller would write into the status of policies: whether each is accepted, and whether it is in force
everywhere, partly or nowhere, with the winners and losers by name. With --all also the conditions of routes for each
parent, of gateways and of listeners, and the marks that policies leave on them. -A without a name implies --all.

With --audit what is predicted is held against what the objects report, and only what differs is shown, each difference with
an explanation; the exit code is 1 if there is any. It asks a cluster, a snapshot, or files that hold statuses. What depends on
more than the objects, such as data planes and certificates, is not predicted and not compared.`,
		Example: `  # every policy of a namespace
  kubectl dopolicy status -n infra -f manifests/

  # one policy
  kubectl dopolicy status authpolicy/gw-auth -f manifests/

  # everything, for programs
  kubectl dopolicy status -A -f manifests/ -o json

  # what does a cluster report that is not as predicted?
  kubectl dopolicy status -A --audit`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.status(cmd.Context(), q, s, args, all, audit)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	q.addTable(cmd)
	cmd.Flags().BoolVar(&audit, "audit", false, "show what objects report in another way than predicted; exit with 1 if any does")
	cmd.Flags().BoolVar(&all, "all", false, "also routes, gateways and listeners")
	a.completion(cmd, &q.sourceFlags, s, firstArgument(policyWords))
	return cmd
}

// status is the whole of the command.
func (a App) status(ctx context.Context, q *question, s Streams, args []string, all, audit bool) error {
	if audit && q.overLive {
		return usage("drop one of the two: what is not applied is not reported on", "--audit cannot be given with --live")
	}
	session, err := q.open(ctx, a.Plugins, s)
	if err != nil {
		return err
	}
	if audit && session.Snapshot.Cluster == nil && !status.HasStatus(session.Snapshot, session.Kinds) {
		return errNothingReported
	}
	query := view.StatusQuery{Objects: all || q.allNamespaces && len(args) == 0, Audit: audit}
	if query.Kinds, err = session.kinds(); err != nil {
		return err
	}
	if q.namespace != "" && !q.allNamespaces {
		query.In = func(namespace string) bool { return namespace == q.namespace }
	}
	if len(args) > 0 {
		named, err := session.policy(args[0])
		if err != nil {
			return err
		}
		if named.rule != "" {
			return usage("conditions are about whole policies; ask `reach` about a rule", "%q names a rule", args[0])
		}
		query.Policy = named.policy
	}
	list := view.Status(session.Resolution, query, plugin.StatusFunctions(a.Plugins))
	if err := q.write(s, session, "", list, &list.Envelope); err != nil {
		return err
	}
	if audit && list.Summary.Differ > 0 {
		return errFindings
	}
	return nil
}
