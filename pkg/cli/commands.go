package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// commandConstructor makes one command. Each command has dozens of flags: making all of them takes
// longer than some commands run.
type commandConstructor struct {
	name      string
	construct func(environment) *cobra.Command
}

// commandConstructors lists the constructors of all commands but those that cobra adds.
func commandConstructors() []commandConstructor {
	return []commandConstructor{
		{"effective", newEffectiveCommand}, {"matrix", newMatrixCommand}, {"reach", newReachCommand}, {"overridden", newOverriddenCommand}, {"explain", newExplainCommand},
		{"status", newStatusCommand}, {"audit", newAuditCommand}, {"graph", newGraphCommand}, {"request", newRequestCommand}, {"prove", newProveCommand}, {"diff", newDiffCommand},
		{"history", newHistoryCommand}, {"check", newCheckCommand}, {"report", newReportCommand}, {"publish", newPublishCommand}, {"kinds", newKindsCommand},
		{"snapshot", newSnapshotCommand}, {"version", newVersionCommand},
	}
}

// buildCommandTree returns the root command with only the command that a command line begins with.
// If the line begins with no command, or with one of cobra's own, all commands are there: help and
// completion list them, and misspelt words are compared with them.
func buildCommandTree(env environment, line []string, m *member) *cobra.Command {
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
		if slices.Contains(fleetCommands(), maker.name) {
			addFleetFlags(cmd, env, m, line, func(env environment, m *member) *cobra.Command { return buildCommandTree(env, line, m) })
		}
		root.AddCommand(cmd)
	}
	return root
}
