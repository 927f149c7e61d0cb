package check

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/finding"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
)

// defaultBudget is how long changes are tried.
const defaultBudget = "1m"

// CoverageOptions are what the flags and arguments of `check coverage` say.
type CoverageOptions struct {
	Environment  run.Environment
	Args         []string // folders
	Query        command.Query
	Requirements []string
	Budget       string
	FailUnder    int
}

// newCoverageCommand makes the command.
func newCoverageCommand(env run.Environment) *cobra.Command {
	f := &CoverageOptions{Environment: env}
	cmd := &cobra.Command{
		Use:   "coverage --requirements FILE [FOLDER…]",
		Short: "Find what could change without a requirement noticing it",
		Long: `Find out what requirements do not notice. The input is changed in memory, one thing at a time, and the requirements are
checked after each change. These are taken out in turn: each policy, each setting, targets, grants, filters that name
objects, parents and rules of routes; overrides become defaults.

The answer lists the changes that matter, to settings in force or to requests, and that no requirement notices. It also
lists the requirements that notice nothing, or nothing that others do not notice.

Each change takes as long as reading the input once more. --budget limits them, by time or by number: policies come
first, and the answer says what was not tried. To check a folder called coverage, write check ./coverage.`,
		Example: `  # could a policy vanish without anybody noticing?
  kubectl dopolicy check coverage --requirements requirements.yaml manifests/

  # in CI: 200 changes, and at least 80 percent noticed
  kubectl dopolicy check coverage --requirements requirements.yaml -f manifests/ -R --budget 200 --fail-under 80`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = args
			return RunCoverage(cmd.Context(), f)
		},
	}
	f.Query.AddFlags(cmd, "table", "wide", "markdown", "yaml", "json", "ndjson", "name")
	f.Query.Output.AddTableFlags(cmd)
	fs := cmd.Flags()
	fs.StringArrayVar(&f.Requirements, "requirements", nil,
		"file with requirements (repeatable; see docs/requirements.md)")
	fs.StringVar(&f.Budget, "budget", defaultBudget,
		"how many changes are tried: a time such as 30s or 5m, or a number; 0: all")
	fs.IntVar(&f.FailUnder, "fail-under", 0,
		"exit with 1 if fewer percent of the changes than this are noticed, or not all were tried")
	completion.AddToCommand(cmd, env, &f.Query.Source, nil)
	return cmd
}

// RunCoverage tries changes and says which go unnoticed.
func RunCoverage(ctx context.Context, f *CoverageOptions) error {
	more, err := parseBudget(f.Budget)
	if err != nil {
		return err
	}
	if f.FailUnder < 0 || f.FailUnder > 100 {
		return failure.Usage("give a percentage", "--fail-under cannot be %d", f.FailUnder)
	}
	if len(f.Requirements) == 0 {
		return failure.Usage("name the file with your requirements: --requirements requirements.yaml",
			"--requirements is missing")
	}
	reqs, err := finding.ReadRequirements(nil, f.Requirements)
	if err != nil {
		return err
	}
	f.Query.Source.Files = append(f.Query.Source.Files, f.Args...)
	session, err := f.Query.Source.Open(ctx, f.Environment)
	if err != nil {
		return err
	}
	out := session.Cover(reqs, more)
	if err := f.Query.Output.WriteOnly(f.Environment.Streams, session, "", out, &out.Envelope); err != nil {
		return err
	}
	if f.FailUnder > 0 && (out.Percent < f.FailUnder || len(out.NotTried) > 0) {
		return failure.ErrFindings
	}
	return nil
}

// parseBudget reads --budget: a number of changes or a time. The function that it returns reports
// whether another change may be tried.
func parseBudget(text string) (func(tried int) bool, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return func(tried int) bool { return n == 0 || tried < n }, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return nil, failure.Usage("write 30s, 5m or 200", "--budget %q is neither a time nor a number", text)
	}
	end := time.Now().Add(d)
	return func(int) bool { return time.Now().Before(end) }, nil
}
