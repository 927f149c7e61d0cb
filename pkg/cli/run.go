package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/output"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/version"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// The exit codes, whatever the output format. A run that a signal ends has 128 and its number.
const (
	ExitAnswered = 0 // answered, nothing found
	ExitFindings = 1 // answered, and found what the command looks for
	ExitUsage    = 2 // the command line is wrong
	ExitNoAnswer = 3 // no answer is possible
)

// maxErrorLines is how many lines of one error are printed.
const maxErrorLines = 20

// App is what the program is made of.
type App struct {
	Plugins []plugin.Plugin
	Build   Build
}

// newEnvironment is what a run gives to a command.
func (a App) newEnvironment(s Streams) run.Environment {
	return run.Environment{Plugins: a.Plugins, Build: a.Build, Streams: s, Run: a.Run}
}

// Run runs one command line (without the program's name) and returns the exit code.
func (a App) Run(ctx context.Context, args []string, s Streams) int {
	limitMemory(s)
	if s.InRunner() {
		s.Err = escape.NewRunnerWriter(s.Err)
	}
	s.Out, s.Err = wantedWriter{ctx, s.Out}, messageWriter{s.Err}
	args = source.AllowBareVerbosity(args)
	root := buildCommandTree(a.newEnvironment(s), args, nil)
	completion.Register(root, args)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := checkCommandName(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil || errors.Is(err, failure.ErrAnswered) {
		return ExitAnswered
	}
	if errors.Is(err, failure.ErrFindings) {
		return ExitFindings
	}
	f := failure.Describe(err)
	if ctx.Err() != nil && !strings.HasPrefix(f.What, interrupted) { // whatever it looks like
		f = failure.Details{What: interrupted}
	}
	for i, line := range strings.Split(f.What, "\n") {
		if i == maxErrorLines {
			fmt.Fprintf(s.Err, "error: … and %d more\n", strings.Count(f.What, "\n")+1-i)
			break
		}
		fmt.Fprintf(s.Err, "error: %s\n", escape.Escape(line))
	}
	if f.Hint != "" {
		fmt.Fprintf(s.Err, "hint: %s\n", escape.Escape(f.Hint))
	}
	if f.Usage {
		return ExitUsage
	}
	return ExitNoAnswer
}

// Command is the whole command tree, for the generated reference.
func (a App) Command(s Streams) *cobra.Command {
	return buildCommandTree(a.newEnvironment(s), nil, nil)
}

// rootExample is what the program is mostly asked.
const rootExample = `  # why do I get 401 here? (also 403, 404, 429, 500, 503, redirect)
  kubectl dopolicy why 401 https://shop.example.com/cart

  # which policies are in force on this route, and who set what?
  kubectl dopolicy effective cart

  # the same questions about manifests, without a cluster
  kubectl dopolicy effective cart -f manifests/`

// newRootCommand makes the root command without its subcommands.
func newRootCommand(env run.Environment) *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use:   "kubectl-dopolicy",
		Short: "Show which Gateway API policies are in force, where each setting comes from, and what was overridden",
		Long: `kubectl dopolicy shows which Gateway API policies (with Defaults and Overrides) are in force on each route rule,
where every setting comes from, and what was overridden, by which policy and why. It reads manifests or a
cluster and needs no running controller.`,
		Example:       rootExample,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl dopolicy"},
		SilenceErrors: true, SilenceUsage: true,
		Args:                       cobra.NoArgs,
		SuggestionsMinimumDistance: 2,
		RunE: func(*cobra.Command, []string) error {
			if showVersion {
				return version.Run(&version.Options{Environment: env, Output: output.Flags{Format: "table"}})
			}
			return writeQuestions(env.Streams.Out, env.Streams.TerminalWidth(env.Streams.OutIsTTY))
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version and build information")
	root.AddGroup(commandGroups()...)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(explainFlagError)
	return root
}

// checkCommandName refuses a first word that is no command, before its flags are compared with
// another command's.
func checkCommandName(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	word := args[0]
	switch word {
	case cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return nil
	case "completion":
		if len(args) > 1 && !strings.HasPrefix(args[1], "-") && !slices.Contains(shells, args[1]) {
			return failure.Usage("use one of: "+strings.Join(shells, ", "), "unknown shell %q", args[1])
		}
		return nil
	case "help":
		if len(args) == 1 || slices.Contains([]string{"help", "completion"}, args[1]) {
			return nil
		}
		word = args[1]
	}
	if cmd, _, err := root.Find([]string{word}); err == nil && cmd != root {
		return nil
	}
	hint := "list the commands with: kubectl dopolicy --help"
	if near := suggestCommands(root, word); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return failure.Usage(hint, "unknown command %q", word)
}

// suggestCommands returns the commands that a word is a synonym of, else those with a name like it.
func suggestCommands(root *cobra.Command, word string) []string {
	var out []string
	for _, cmd := range root.Commands() {
		if slices.Contains(cmd.SuggestFor, strings.ToLower(word)) {
			out = append(out, cmd.Name())
		}
	}
	if out == nil {
		return root.SuggestionsFor(word)
	}
	return out
}

// shells are those for which there is a completion script.
var shells = []string{"bash", "fish", "powershell", "zsh"}

// explainFlagError says what is wrong with a flag, and which one may be meant.
func explainFlagError(cmd *cobra.Command, err error) error {
	what, hint := err.Error(), "see: "+cmd.CommandPath()+" --help"
	if name, unknown := strings.CutPrefix(what, "unknown flag: --"); unknown {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near := form.Nearest(name, known); len(near) > 0 {
			hint = "did you mean --" + near[0] + "?"
		}
	}
	if text, parser, found := strings.Cut(what, ": strconv."); found {
		what = text + ": it takes a number"
		if strings.HasPrefix(parser, "ParseBool") {
			what = text + ": it takes true or false"
		}
	}
	return failure.Usage(hint, "%s", what)
}
