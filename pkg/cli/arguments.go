package cli

import (
	"github.com/spf13/cobra"
	"math"
	"strings"
)

// manyArguments is for commands that take as many as are given.
const manyArguments = math.MaxInt

// checkArgumentCount checks the number of arguments, and shows how the command is written.
func checkArgumentCount(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return newUsageError("write: kubectl dopolicy "+cmd.Use, "%s is required", strings.TrimSuffix(strings.Fields(cmd.Use)[1], "…"))
		case len(args) > most:
			return newUsageError("write: kubectl dopolicy "+cmd.Use, "%s: unexpected argument %q", cmd.Name(), args[most])
		}
		return nil
	}
}
