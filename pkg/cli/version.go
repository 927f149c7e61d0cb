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

// Build is what the linker was told about the program. Fields that are empty are filled from the
// build information of the go command.
type Build struct {
	Version string // with a leading v, as a tag is
	Commit  string // full hash
	Date    string // of the commit, RFC 3339
}

// unknownFact is printed where neither the linker nor the go command recorded a fact.
const unknownFact = "unknown"

// fillFromBuildInfo fills empty fields with what the go command recorded: `go install` of a version
// knows only that version, a build inside a clone knows the commit. A commit with changes on top is
// marked "-dirty".
func (b Build) fillFromBuildInfo(info *debug.BuildInfo) Build {
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if b.Version == "" {
			b.Version = info.Main.Version
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "dev"
	}
	if b.Commit == "" {
		b.Commit = unknownFact
		if revision := settings["vcs.revision"]; revision != "" {
			b.Commit = revision
			if settings["vcs.modified"] == "true" {
				b.Commit += "-dirty"
			}
		}
	}
	if b.Date == "" {
		b.Date = unknownFact
		if time := settings["vcs.time"]; time != "" {
			b.Date = time
		}
	}
	return b
}

func (a App) newVersionCommand(s Streams) *cobra.Command {
	f := &outputFlags{color: string(render.Auto)} // it has no colours, and no flag for them
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
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			b := a.Build.fillFromBuildInfo(info)
			v := &view.Version{Version: b.Version, Commit: b.Commit, Date: b.Date, GoVersion: runtime.Version(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH, GatewayAPI: topology.GatewayAPI}
			v.Finish("Version", nil)
			return render.Write(s.Out, v, render.Options{Format: render.Format(f.format)})
		},
	}
	f.addFormat(cmd, []string{"table", "yaml", "json"}, nil)
	completeFlagFrom(cmd, "output", f.formats)
	return cmd
}
