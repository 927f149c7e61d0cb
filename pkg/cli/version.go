package cli

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// versionOptions are what the flags of the command say.
type versionOptions struct {
	Environment environment
	Output      outputFlags
}

// newVersionCommand makes the command.
func newVersionCommand(env environment) *cobra.Command {
	o := &versionOptions{Environment: env, Output: outputFlags{color: string(render.Auto)}} // it has no colours, and no flag for them
	f := &o.Output
	cmd := &cobra.Command{
		Use:   "version [-o FORMAT]",
		Short: "Print the version and build information",
		Args:  checkArgumentCount(0, 0),
		Example: `  # include this in a bug report
  kubectl dopolicy version`,
		ValidArgsFunction: cobra.NoFileCompletions,
		PreRunE: func(*cobra.Command, []string) error {
			if !slices.Contains(f.formats, f.format) {
				return newUsageError("use one of: "+strings.Join(f.formats, ", "), "unknown output format %q", f.format)
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return runVersion(o) },
	}
	f.addFormat(cmd, []string{"table", "yaml", "json"}, nil)
	completeFlagFrom(cmd, "output", f.formats)
	return cmd
}

// runVersion answers.
func runVersion(o *versionOptions) error {
	info, _ := debug.ReadBuildInfo()
	b := o.Environment.Build.fillFromBuildInfo(info)
	v := &view.Version{Version: b.Version, Commit: b.Commit, Date: b.Date, GoVersion: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, GatewayAPI: topology.GatewayAPI}
	v.Finish("Version", nil)
	return render.Write(o.Environment.Streams.Out, v, render.Options{Format: render.Format(o.Output.format)})
}
