package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// commandMaker makes a command. Each has dozens of flags, so that making all of them takes longer than some commands run.
type commandMaker struct {
	name string
	make func(App, Streams) *cobra.Command
}

// commandMakers make all commands but those that cobra adds.
func commandMakers() []commandMaker {
	return []commandMaker{
		{"effective", App.effectiveCmd}, {"matrix", App.matrixCmd}, {"reach", App.reachCmd}, {"overridden", App.overriddenCmd}, {"explain", App.explainCmd},
		{"status", App.statusCmd}, {"audit", auditCmd}, {"graph", App.graphCmd}, {"request", App.requestCmd}, {"prove", proveCmd}, {"diff", App.diffCmd},
		{"history", historyCmd}, {"check", App.checkCmd}, {"report", App.reportCmd}, {"publish", publishCmd}, {"kinds", App.kindsCmd},
		{"snapshot", App.snapshotCmd}, {"version", App.versionCmd},
	}
}

// commandFor is the command tree with nothing but the command that a command line begins with. If it begins with none, or with one of cobra's
// own, all are there: help and completion list them, and mistakes are held against them.
func commandFor(a App, line []string, s Streams) *cobra.Command {
	makers := commandMakers()
	if len(line) > 0 {
		if i := slices.IndexFunc(makers, func(m commandMaker) bool { return m.name == line[0] }); i >= 0 {
			makers = makers[i : i+1]
		}
	}
	root := rootCmd(s)
	for _, m := range makers {
		cmd := m.make(a, s)
		cmd.DisableFlagsInUseLine = true
		if slices.Contains(fleetCommands(), m.name) {
			addFleet(a, cmd, s)
		}
		root.AddCommand(cmd)
	}
	return root
}
