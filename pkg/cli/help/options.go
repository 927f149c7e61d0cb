package help

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
)

// NewOptionsCommand makes the command that lists the flags which all commands have, also those that
// help leaves out. with makes a command that has them.
func NewOptionsCommand(env run.Environment, with func() *cobra.Command) *cobra.Command {
	s := env.Streams
	return &cobra.Command{
		Use:               "options",
		Short:             "List the flags that all commands have, also those that are rarely needed",
		Args:              command.CheckArguments(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			width := min(s.TerminalWidth(s.OutIsTTY), widest)
			for i, g := range CommonFlags(with()) {
				if i > 0 {
					fmt.Fprintln(s.Out)
				}
				if _, err := fmt.Fprintf(s.Out, "%s:\n%s", g.Title, formatFlags(g.Flags, width)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// CommonFlags returns the flags of a command that many commands have, without its own.
func CommonFlags(cmd *cobra.Command) []FlagGroup {
	groups := GroupFlags(cmd, true)
	if len(groups) > 0 && groups[0].Title == "" {
		return groups[1:]
	}
	return groups
}
