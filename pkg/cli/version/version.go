package version

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/output"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Options are what the flags of the command say.
type Options struct {
	Environment run.Environment
	Output      output.Flags
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	// it has no colours, and no flag for them
	o := &Options{Environment: env, Output: output.Flags{Color: string(render.Auto)}}
	f := &o.Output
	cmd := &cobra.Command{
		Use:   "version [-o FORMAT]",
		Short: "Print the version and build information",
		Args:  command.CheckArguments(0, 0),
		Example: `  # include this in a bug report
  kubectl dopolicy version`,
		ValidArgsFunction: cobra.NoFileCompletions,
		PreRunE: func(*cobra.Command, []string) error {
			if !slices.Contains(f.Formats, f.Format) {
				return failure.Usage("use one of: "+strings.Join(f.Formats, ", "), "unknown output format %q", f.Format)
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return Run(o) },
	}
	f.AddFormatFlag(cmd, []string{"table", "yaml", "json"}, nil)
	completion.AddWordsToFlag(cmd, "output", f.Formats)
	return cmd
}

// Run answers.
func Run(o *Options) error {
	info, _ := debug.ReadBuildInfo()
	b := o.Environment.Build.FillFromBuildInfo(info)
	v := &view.Version{Version: b.Version, Commit: b.Commit, Date: b.Date, GoVersion: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, GatewayAPI: gatewayapi.Version}
	v.Finish("Version", nil)
	return render.Write(o.Environment.Streams.Out, v, render.Options{Format: render.Format(o.Output.Format)})
}
