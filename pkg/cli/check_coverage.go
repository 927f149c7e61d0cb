package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cover"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// defaultBudget is how long changes are tried.
const defaultBudget = "1m"

// coverageFlags are the flags of `check coverage`.
type coverageFlags struct {
	queryFlags
	requirements []string
	budget       string
	failUnder    int
}

func newCoverageCommand(a App, s Streams) *cobra.Command {
	f := &coverageFlags{}
	cmd := &cobra.Command{
		Use:   "coverage --requirements FILE [FOLDER…]",
		Short: "Find what could change without a requirement noticing it",
		Long: `Find out what requirements do not notice. Everything that policies are made of is taken out of the input in turn, in
memory: each policy, each setting, overrides (which become defaults), targets, grants, filters that name objects, parents and
rules of routes. The requirements are asked about what is left. Listed are the changes that have an effect, on settings in force or
on what requests get, and of which no requirement finds more than before; and requirements that notice nothing, or nothing
that others do not notice.

Each change costs as much as reading the input once more. --budget bounds them, by time or by number; policies are tried first,
and what was not tried is told. To check a folder called coverage, write check ./coverage.`,
		Example: `  # could a policy vanish without anybody noticing?
  kubectl dopolicy check coverage --requirements requirements.yaml manifests/

  # in CI: 200 changes, and at least 80 percent noticed
  kubectl dopolicy check coverage --requirements requirements.yaml -f manifests/ -R --budget 200 --fail-under 80`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.runCoverage(cmd, a, s, args) },
	}
	f.addFlags(cmd, "table", "wide", "markdown", "yaml", "json", "ndjson", "name")
	f.addTable(cmd)
	fs := cmd.Flags()
	fs.StringArrayVar(&f.requirements, "requirements", nil, "file with requirements (repeatable; see docs/requirements.md)")
	fs.StringVar(&f.budget, "budget", defaultBudget, "how many changes are tried: a time such as 30s or 5m, or a number; 0: all")
	fs.IntVar(&f.failUnder, "fail-under", 0, "exit with 1 if fewer percent of the changes than this are noticed, or not all were tried")
	a.addCompletion(cmd, &f.sourceFlags, s, nil)
	return cmd
}

// runCoverage runs the command.
func (f *coverageFlags) runCoverage(cmd *cobra.Command, a App, s Streams, folders []string) error {
	more, err := parseBudget(f.budget)
	if err != nil {
		return err
	}
	if f.failUnder < 0 || f.failUnder > 100 {
		return newUsageError("give a percentage", "--fail-under cannot be %d", f.failUnder)
	}
	if len(f.requirements) == 0 {
		return newUsageError("name the file with your requirements: --requirements requirements.yaml", "--requirements is missing")
	}
	reqs, err := readRequirements(nil, f.requirements)
	if err != nil {
		return err
	}
	f.files = append(f.files, folders...)
	session, err := f.openInput(cmd.Context(), a.Plugins, s)
	if err != nil {
		return err
	}
	side := func(r *resolve.Resolution) view.DiffInput {
		one := *session
		one.Resolution = r
		return view.DiffInput{Resolution: r, Matcher: one.newMatcher().Matcher, Judges: f.requestJudges(a.Plugins)}
	}
	out := cover.Run(session.asRead, cover.Query{
		Requirements: reqs,
		Resolve: func(in *model.Snapshot) *resolve.Resolution {
			return resolveInput(in, session.catalog, f.graphLinkers()...)
		},
		Judge: func(r *resolve.Resolution) []model.Problem {
			return requirement.FindProblems(r, reqs, newDeciders(f.requestJudges(a.Plugins), session.tidiers))
		},
		DiffSide: side,
		CompareBehavior: func(before, after *resolve.Resolution) (string, bool) {
			diff, err := view.Behavior(side(before), side(after), view.BehaviorQuery{})
			if err != nil {
				return fmt.Sprintf("not known: %s", err), true
			}
			return diff.Headline(), diff.HasChanges()
		},
		HasBudget: more,
	})
	if err := f.writeOnly(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	if f.failUnder > 0 && (out.Percent < f.failUnder || len(out.NotTried) > 0) {
		return errFindings
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
		return nil, newUsageError("write 30s, 5m or 200", "--budget %q is neither a time nor a number", text)
	}
	end := time.Now().Add(d)
	return func(int) bool { return time.Now().Before(end) }, nil
}
