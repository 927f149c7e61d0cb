package command

import (
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
)

// Many is for commands that take as many as are given.
const Many = math.MaxInt

// CheckArguments checks the number of arguments, and shows how the command is written.
func CheckArguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return failure.Usage("write: kubectl dopolicy "+cmd.Use, "%s is required",
				strings.TrimSuffix(strings.Fields(cmd.Use)[1], "…"))
		case len(args) > most:
			return failure.Usage("write: kubectl dopolicy "+cmd.Use, "%s: unexpected argument %q",
				cmd.Name(), args[most])
		}
		return nil
	}
}
