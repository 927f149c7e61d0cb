package kinds

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// The formats that judge the health of policies, for the tools that deploy them.
const (
	argoHealth = "argocd-health"
	fluxHealth = "flux"
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
  kubectl dopolicy kinds -f manifests/

  # health checks for Argo CD, and for a Flux Kustomization
  kubectl dopolicy kinds -o argocd-health > health.yaml
  kubectl dopolicy kinds -o flux --policy-kind SecurityPolicy`,
		Args: command.CheckArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), o) },
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name", argoHealth, fluxHealth)
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
	switch o.Query.Output.Format {
	case argoHealth:
		return writeHealth(o, session, session.HealthChecks(only).FormatConfigMap(), &list.Envelope)
	case fluxHealth:
		return writeHealth(o, session, session.HealthChecks(only).FormatFluxPatch(), &list.Envelope)
	}
	return o.Query.Output.Write(o.Environment.Streams, session, "", list, &list.Envelope)
}

// writeHealth writes the checks, and the problems of the input that they were made for.
func writeHealth(o *Options, session *source.Session, text string, e *view.Envelope) error {
	if _, err := fmt.Fprint(o.Environment.Streams.Out, text); err != nil {
		return fmt.Errorf("writing the health checks: %w", err)
	}
	if err := o.Query.Output.PrintProblems(o.Environment.Streams, session, e); err != nil {
		return err
	}
	if o.Query.Output.Strict && !e.Complete {
		return failure.ErrIncomplete
	}
	return nil
}
