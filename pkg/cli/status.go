package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// errNothingReported is what an audit of manifests comes to.
var errNothingReported = &noAnswerError{"no object has a status: there is nothing to audit",
	"audit a cluster (without -f), a snapshot of one (kubectl dopolicy snapshot), or files from: kubectl get -o yaml"}

// errNothingCompared is what an audit comes to that neither found a difference nor agreement: that is no proof of agreement.
var errNothingCompared = &noAnswerError{"nothing was compared, so nothing is known to agree",
	"see the notes with -o wide; name the objects, namespaces and proxies that belong together"}

func (a App) newStatusCommand(s Streams) *cobra.Command {
	q := &queryFlags{}
	var all, audit bool
	cmd := &cobra.Command{
		Use:   "status [POLICY…]",
		Short: "Predict the status conditions of policies (--all: also of routes, gateways and listeners)",
		Long: `Predict the status a controller would write: for each policy, whether it is accepted, and as a note every condition that is
not plainly well. IN FORCE says where the policy is in force by the engine's own count, whether or not its controller
reports that: yes, partly, no, or unknown, with the route rules or other targets that it stands above. TARGET names what
the policy refers to, or what its selectors select. --all adds the conditions of routes (per parent), gateways and listeners, and
the conditions that policies set on them. -A without a name implies --all.

--audit compares the prediction with the status that objects report and shows only the differences, each with an explanation;
the exit code is 1 if there are any, and 3 if nothing could be compared. It needs a cluster, a snapshot, or files that contain statuses. Conditions that depend on
more than the objects, such as data planes and certificates, are neither predicted nor compared.`,
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
		Args: checkArgumentCount(0, manyArguments),
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.answerOrWatch(cmd, s, func(ctx context.Context, s, to Streams) error { return a.runStatus(ctx, q, s, to, args, all, audit) })
		},
	}
	q.addFlags(cmd, statusFormats()...)
	q.addTable(cmd)
	q.addWatchFlag(cmd)
	cmd.Flags().BoolVar(&audit, "audit", false, "show only reported statuses that differ from the prediction; exit with 1 if any does (deprecated: use audit)")
	cmd.Flags().BoolVar(&all, "all", false, "also predict routes, gateways and listeners")
	a.addCompletion(cmd, &q.sourceFlags, s, proposeForEachArgument(proposePolicies))
	return cmd
}

// statusFormats are the forms in which statuses can be written.
func statusFormats() []string { return []string{"table", "wide", "yaml", "json", "ndjson", "name"} }

// runStatus runs the command.
func (a App) runStatus(ctx context.Context, q *queryFlags, s, to Streams, args []string, all, audit bool) error {
	if audit && q.overLive {
		return newUsageError("drop one of the two: statuses do not reflect files that are not applied yet", "--audit cannot be given with --live")
	}
	session, err := q.openInput(ctx, a.Plugins, s)
	if err != nil {
		return err
	}
	if audit && session.Snapshot.Cluster == nil && !status.HasStatus(session.Snapshot, session.Kinds) {
		return errNothingReported
	}
	query := view.StatusQuery{Objects: all || q.allNamespaces && len(args) == 0, Audit: audit}
	if query.Kinds, err = session.selectedKinds(); err != nil {
		return err
	}
	if q.namespace != "" && !q.allNamespaces {
		query.InNamespace = func(namespace string) bool { return namespace == q.namespace }
	}
	if len(args) == 0 {
		if err := (inputSelection{session}).checkNamespace(); err != nil {
			return err
		}
	}
	named, err := policyNames{session}.findEach(args)
	if err != nil {
		return err
	}
	for i, n := range named {
		if n.rule != "" {
			return newUsageError("status is about whole policies; use `reach` for a rule", "%q names a rule", args[i])
		}
		query.Policies = append(query.Policies, n.policy)
	}
	list := view.Status(session.Resolution, query, plugin.StatusFunctions(a.Plugins))
	if err := q.writeWithProblems(to, session, "", list, &list.Envelope); err != nil {
		return err
	}
	switch {
	case !audit:
		return nil
	case list.Summary.Differ > 0:
		return errFindings
	case list.Summary.Agree == 0:
		return errNothingCompared
	}
	return nil
}
