package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// commandConstructor makes one command. Each command has dozens of flags: making all of them takes
// longer than some commands run.
type commandConstructor struct {
	name      string
	construct func(App, Streams) *cobra.Command
}

// commandConstructors lists the constructors of all commands but those that cobra adds.
func commandConstructors() []commandConstructor {
	return []commandConstructor{
		{"effective", App.newEffectiveCommand}, {"matrix", App.newMatrixCommand}, {"reach", App.newReachCommand}, {"overridden", App.newOverriddenCommand}, {"explain", App.newExplainCommand},
		{"status", App.newStatusCommand}, {"audit", newAuditCommand}, {"graph", App.newGraphCommand}, {"request", App.newRequestCommand}, {"prove", newProveCommand}, {"diff", App.newDiffCommand},
		{"history", newHistoryCommand}, {"check", App.newCheckCommand}, {"report", App.newReportCommand}, {"publish", newPublishCommand}, {"kinds", App.newKindsCommand},
		{"snapshot", App.newSnapshotCommand}, {"version", App.newVersionCommand},
	}
}

// buildCommandTree returns the root command with only the command that a command line begins with.
// If the line begins with no command, or with one of cobra's own, all commands are there: help and
// completion list them, and misspelt words are compared with them.
func buildCommandTree(a App, line []string, s Streams) *cobra.Command {
	makers := commandConstructors()
	if len(line) > 0 {
		if i := slices.IndexFunc(makers, func(m commandConstructor) bool { return m.name == line[0] }); i >= 0 {
			makers = makers[i : i+1]
		}
	}
	root := newRootCommand(s)
	for _, m := range makers {
		cmd := m.construct(a, s)
		cmd.DisableFlagsInUseLine = true
		if slices.Contains(fleetCommands(), m.name) {
			addFleetFlags(a, cmd, s)
		}
		root.AddCommand(cmd)
	}
	return root
}
