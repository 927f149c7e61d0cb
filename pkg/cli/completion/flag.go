package completion

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// completedValue is the value of a flag together with what completes it. Cobra keeps registered
// completions, and all that a command has read with them, for as long as the process runs: so
// nothing is registered unless a shell asks.
type completedValue struct {
	pflag.Value
	words cobra.CompletionFunc
}

// AddToFlag completes the values of a flag of the command.
func AddToFlag(cmd *cobra.Command, name string, words cobra.CompletionFunc) {
	f := cmd.Flag(name)
	if before, again := f.Value.(completedValue); again {
		f.Value = before.Value
	}
	f.Value = completedValue{f.Value, words}
}

// FlagValue is the value of a flag by itself.
func FlagValue(f *pflag.Flag) pflag.Value {
	if c, ok := f.Value.(completedValue); ok {
		return c.Value
	}
	return f.Value
}

// Register tells cobra how flags are completed, if a shell asks for that.
func Register(root *cobra.Command, args []string) {
	if len(args) == 0 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return
	}
	for _, cmd := range root.Commands() {
		Register(cmd, args)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			c, ok := f.Value.(completedValue)
			if !ok {
				return
			}
			f.Value = c.Value
			// Registering fails only for a flag that the command does not have.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, c.words)
		})
	}
}

// AddWordsToFlag completes a flag with fixed words.
func AddWordsToFlag(cmd *cobra.Command, flag string, words []string) {
	AddToFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// AddRequestFlags completes the flags of a request.
func AddRequestFlags(cmd *cobra.Command, env run.Environment, flags *source.Flags) {
	AddWordsToFlag(cmd, "protocol", []string{"TLS", "TCP", "UDP", "SCTP"})
	AddToFlag(cmd, "gateway", FromInput(env, flags, (*source.Flags).Open, ProposeForWord(ProposeGateways)))
	AddToFlag(cmd, "from-namespace", FromInput(env, flags, (*source.Flags).Open, source.ListNamespaces))
}
