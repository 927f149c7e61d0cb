package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

func (a App) statusCmd(s Streams) *cobra.Command {
	q := &question{}
	var all bool
	cmd := &cobra.Command{
		Use:   "status [POLICY]",
		Short: "Predict the conditions that policies, and with --all routes, gateways and listeners, should report",
		Long: `Predict what a controller would write into the status of policies: whether each is accepted, and whether it is in force
everywhere, partly or nowhere, with the winners and losers by name. With --all also the conditions of routes for each
parent, of gateways and of listeners, and the marks that policies leave on them. -A without a name implies --all.`,
		Example: `  # every policy of a namespace
  kubectl dopolicy status -n infra -f manifests/

  # one policy
  kubectl dopolicy status authpolicy/gw-auth -f manifests/

  # everything, for programs
  kubectl dopolicy status -A -f manifests/ -o json`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			query := view.StatusQuery{Objects: all || q.allNamespaces && len(args) == 0}
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
			return q.write(s, session, "", list, &list.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	q.addTable(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "also routes, gateways and listeners")
	a.completion(cmd, &q.sourceFlags, s, firstArgument((*session).policyWords))
	return cmd
}
