package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// kindsOptions are what the flags and arguments of the command say.
type kindsOptions struct {
	Environment environment
	Query       queryFlags
}

// newKindsCommand makes the command.
func newKindsCommand(env environment) *cobra.Command {
	o := &kindsOptions{Environment: env}
	cmd := &cobra.Command{
		Use:   "kinds",
		Short: "List policy kinds: built in, user-defined, and found in the input",
		Example: `  # known kinds, which of them are in the cluster, and how each is read
  kubectl dopolicy kinds -o wide

  # the kinds in these manifests
  kubectl dopolicy kinds -f manifests/`,
		Args: checkArgumentCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runKinds(cmd.Context(), o) },
	}
	o.Query.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	addCompletion(cmd, o.Environment, &o.Query.Source, nil)
	return cmd
}

// runKinds answers.
func runKinds(ctx context.Context, o *kindsOptions) error {
	session, err := o.Query.Source.openKinds(ctx, o.Environment)
	if err != nil {
		return err
	}
	only, err := session.selectedKinds()
	if err != nil {
		return err
	}
	list := session.PolicyKinds(only)
	return o.Query.Output.writeWithProblems(o.Environment.Streams, session, "", list, &list.Envelope)
}
