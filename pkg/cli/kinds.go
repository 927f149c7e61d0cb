package cli

import (
	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

func (a App) newKindsCommand(s Streams) *cobra.Command {
	q := &queryFlags{}
	cmd := &cobra.Command{
		Use:   "kinds",
		Short: "List policy kinds: built in, user-defined, and found in the input",
		Example: `  # known kinds, which of them are in the cluster, and how each is read
  kubectl dopolicy kinds -o wide

  # the kinds in these manifests
  kubectl dopolicy kinds -f manifests/`,
		Args: checkArgumentCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			session, err := q.openKinds(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			only, err := session.selectedKinds()
			if err != nil {
				return err
			}
			list := view.Kinds(session.Resolution, only)
			return q.writeWithProblems(s, session, "", list, &list.Envelope)
		},
	}
	q.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	a.addCompletion(cmd, &q.sourceFlags, s, nil)
	return cmd
}
