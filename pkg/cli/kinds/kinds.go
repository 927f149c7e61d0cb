package kinds

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
)

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Query       command.Query
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "kinds",
		Short: "List policy kinds: built in, user-defined, and found in the input",
		Example: `  # known kinds, which of them are in the cluster, and how each is read
  kubectl dopolicy kinds -o wide

  # the kinds in these manifests
  kubectl dopolicy kinds -f manifests/`,
		Args: command.CheckArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), o) },
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, nil)
	return cmd
}

// Run answers.
func Run(ctx context.Context, o *Options) error {
	session, err := o.Query.Source.OpenKinds(ctx, o.Environment)
	if err != nil {
		return err
	}
	only, err := session.SelectedKinds()
	if err != nil {
		return err
	}
	list := session.PolicyKinds(only)
	return o.Query.Output.Write(o.Environment.Streams, session, "", list, &list.Envelope)
}
