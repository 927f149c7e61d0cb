package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/fleet"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/history"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/kinds"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/snapshot"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/version"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/why"
)

// commandConstructor makes one command. Each command has dozens of flags: making all of them takes
// longer than some commands run.
type commandConstructor struct {
	name      string
	construct func(run.Environment) *cobra.Command
}

// commandConstructors lists the constructors of all commands but those that cobra adds.
func commandConstructors() []commandConstructor {
	return []commandConstructor{
		{"effective", effective.NewCommand}, {"matrix", matrix.NewCommand}, {"reach", reach.NewCommand}, {"overridden",
			overridden.NewCommand}, {"explain", explain.NewCommand},
		{"status", status.NewCommand}, {"audit", audit.NewCommand}, {"graph", graph.NewCommand}, {"request",
			request.NewCommand}, {"why", why.NewCommand}, {"prove", prove.NewCommand}, {"diff", diff.NewCommand},
		{"history", history.NewCommand}, {"check", check.NewCommand}, {"report", report.NewCommand}, {"publish",
			publish.NewCommand}, {"kinds", kinds.NewCommand},
		{"snapshot", snapshot.NewCommand}, {"version", version.NewCommand},
	}
}

// buildCommandTree returns the root command with only the command that a command line begins with.
// If the line begins with no command, or with one of cobra's own, all commands are there: help and
// completion list them, and misspelt words are compared with them.
func buildCommandTree(env run.Environment, line []string, m *fleet.Member) *cobra.Command {
	makers := commandConstructors()
	if len(line) > 0 {
		if i := slices.IndexFunc(makers, func(m commandConstructor) bool { return m.name == line[0] }); i >= 0 {
			makers = makers[i : i+1]
		}
	}
	root := newRootCommand(env.Streams)
	for _, maker := range makers {
		cmd := maker.construct(env)
		cmd.DisableFlagsInUseLine = true
		if slices.Contains(fleet.Commands(), maker.name) {
			fleet.AddFlags(cmd, env, m, line, func(env run.Environment,
				m *fleet.Member) *cobra.Command {
				return buildCommandTree(env, line, m)
			})
		}
		root.AddCommand(cmd)
	}
	return root
}
