package check

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/finding"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string // folders, or with List ids
	Query       command.Query
	Findings    finding.Flags
	List        bool

	NewFrom       string // git:REV or a folder: only what is new since then counts
	Baseline      string // a file with what was found before
	WriteBaseline string // the file to write with what is found
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	f := &Options{Environment: env, Findings: finding.NewFlags(env.Plugins)}
	cmd := &cobra.Command{
		Use:   "check [FOLDER…]",
		Short: "Report mistakes in manifests or a cluster, locally and in CI",
		Long: `Report mistakes: dangling references, conflicts, policies and settings that are never in force, conditions that do not work,
fields that the API server would reject or drop, and input that cannot be evaluated. Every finding has a stable id; --list
documents all of them, --list ID just one.

Exit code 1 means that there are findings of the --fail-on severity or worse, in every output format. What cannot be known
from the input is a note; the last line counts the notes.

--new-from git:REV reads and renders the same paths as they are in a revision of the repository, and reports only findings
that are new; nothing is checked out. --new-from FOLDER compares with a folder. --write-baseline FILE writes the findings
to a file, and --baseline FILE reports only findings that are not in it.

To ignore a finding, give its id to --ignore, in the annotation ` + check.IgnoreAnnotation + ` of the object, or in a config
file (.dopolicy.yaml in the current folder, or --config FILE).

--requirements FILE checks the input against requirements of your own; "check test" tests such files, "check coverage"
finds what they do not notice. To check a folder called test or coverage, write ./test.`,
		Example: `  # manifests, before applying them
  kubectl dopolicy check manifests/

  # in CI: annotations on a pull request, errors only
  kubectl dopolicy check -f manifests/ -R -o github --fail-on error

  # for Prometheus: how much is open, in error or not known, by namespace (docs/metrics.md)
  kubectl dopolicy check -A -o openmetrics --fail-on none

  # the cluster with these manifests applied
  kubectl dopolicy check -f new.yaml --live -A

  # explain one finding id
  kubectl dopolicy check --list TargetNotFound

  # validate against CustomResourceDefinitions that are not among the manifests
  kubectl dopolicy check manifests/ --crds config/crd

  # your own requirements, written in CEL
  kubectl dopolicy check manifests/ --requirements requirements.yaml

  # in CI: fail only because of what a pull request brings
  kubectl dopolicy check -R -f . --new-from git:origin/main

  # or because of what is not in a file of known findings
  kubectl dopolicy check -R -f . --write-baseline .dopolicy-baseline.yaml
  kubectl dopolicy check -R -f . --baseline .dopolicy-baseline.yaml

  # ignore one finding
  kubectl dopolicy check manifests/ --ignore RuleShadowed`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = args
			return Run(cmd.Context(), f)
		},
	}
	f.addFlags(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		f.Findings.NoteGiven(cmd)
		return f.Query.Output.Check(cmd.Flags().Changed("output"))
	}
	f.addCompletion(cmd)
	cmd.AddCommand(newTestCommand(env), newCoverageCommand(env))
	return cmd
}

// addFlags adds the flags of the command.
func (f *Options) addFlags(cmd *cobra.Command) {
	f.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name", "sarif", "junit", "github",
		"openmetrics")
	f.Query.Source.NoSchemas = false
	f.Query.Output.AddTableFlags(cmd)
	fs := cmd.Flags()
	fs.StringSliceVar(&f.Findings.Ignore, "ignore", nil, "finding ids to ignore (repeatable)")
	f.Findings.AddFlags(fs, "config file")
	fs.StringVar(&f.Findings.FailOn, "fail-on", string(model.Warning),
		"exit with 1 if there are findings of this severity or worse: "+strings.Join(check.Thresholds(), "|"))
	fs.BoolVar(&f.Findings.ShowSuppressed, "show-suppressed", false, "also list ignored findings")
	fs.StringVar(&f.NewFrom, "new-from", "",
		"report only what is not found in the same paths as of git:REV, or in this file or folder")
	fs.StringVar(&f.Baseline, "baseline", "", "report only what is not in this file, which --write-baseline wrote")
	fs.StringVar(&f.WriteBaseline, "write-baseline", "", "write what is found to this file, and report nothing")
	fs.BoolVar(&f.List, "list", false, "list all finding ids, or explain the given ones")
}

// addCompletion proposes ids of findings and the words of flags.
func (f *Options) addCompletion(cmd *cobra.Command) {
	completion.AddToCommand(cmd, f.Environment, &f.Query.Source, nil)
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if f.List {
			return completion.Filter(f.Findings.Catalogue().IDs(), typed)
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	completion.AddWordsToFlag(cmd, "fail-on", check.Thresholds())
	completion.AddToFlag(cmd, "ignore", func(_ *cobra.Command, _ []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1] // the ids of the list that are already typed
		var words []string
		for _, id := range f.Findings.Catalogue().IDs() {
			words = append(words, before+id)
		}
		return completion.Filter(words, typed)
	})
}

// Run checks the input, or lists what can be found.
func Run(ctx context.Context, f *Options) error {
	s := f.Environment.Streams
	if f.List {
		return f.listFindings(s, f.Args)
	}
	if err := f.checkBaselineFlags(); err != nil {
		return err
	}
	options, err := f.Findings.Prepare(&f.Query.Source, f.Query.Output.Verbose)
	if err != nil {
		return err
	}
	f.Query.Source.Files = append(f.Query.Source.Files, f.Args...)
	if _, hook := s.LookupEnv("PRE_COMMIT"); hook && !f.Query.Source.ReadsFiles() {
		return failure.Usage("write args: [manifests/] in .pre-commit-config.yaml, or args: [-R, .] for all of the repository",
			"a pre-commit hook checks files, not a cluster: it needs a folder")
	}
	if err := f.Query.Output.SetProgramFacts(f.Environment.Build); err != nil {
		return err
	}
	session, err := f.Query.Source.Open(ctx, f.Environment)
	if err != nil {
		return err
	}
	if options.Kinds, err = session.SelectedKinds(); err != nil {
		return err
	}
	if err := session.CheckNamespace(); err != nil {
		return err
	}
	if f.Query.Source.Namespace != "" && !f.Query.Source.AllNamespaces {
		options.In = func(namespace string) bool { return namespace == f.Query.Source.Namespace }
	}
	report := session.Check(options)
	if f.WriteBaseline != "" {
		return f.writeBaseline(report)
	}
	if baseline, err := f.readBaseline(ctx, options); err != nil {
		return err
	} else if baseline != nil {
		report.LeaveOut(baseline)
	}
	if options.Verbose {
		var unused []model.Problem
		for _, message := range report.Unused {
			unused = append(unused, model.Problem{Severity: model.Info, Message: message})
		}
		if err := render.WriteProblems(s.Err, unused, render.ProblemOptions{Verbose: true}); err != nil {
			return err
		}
	}
	report.FoldCauses()
	if f.Query.Output.IsFormat(render.OpenMetrics) {
		if report.Beside, err = f.countOtherAnswers(session, options); err != nil {
			return err
		}
	}
	if err := f.Query.Output.WriteOnly(s, session, "", report, &report.Envelope); err != nil {
		return err
	}
	if err := f.printForbidden(s, session, report); err != nil {
		return err
	}
	if report.Fails() {
		return failure.ErrFindings
	}
	return nil
}

// countOtherAnswers counts what protects requests, what becomes of policies and what is overridden,
// of the input that is checked.
func (f *Options) countOtherAnswers(session *source.Session, options check.Options) ([]metric.Family, error) {
	query, _, err := f.Query.Parse(session, nil)
	if err != nil {
		return nil, err
	}
	m, err := session.Matrix(matrix.Query{Query: query})
	if err != nil {
		return nil, err
	}
	statuses := session.Status(status.Query{InNamespace: options.In, Kinds: options.Kinds})
	return metric.Join(m.Metrics(), statuses.CountPolicies(),
		session.Overridden(query, nil, nil).CountSettings()), nil
}

// printForbidden prints what the cluster did not let us read, which in the answer is only counted.
func (f *Options) printForbidden(s run.Streams, session *source.Session, report *check.Report) error {
	var forbidden view.Envelope
	for _, p := range report.Problems {
		if p.IsForbiddenList() {
			forbidden.Problems = append(forbidden.Problems, p)
		}
	}
	return f.Query.Output.PrintProblems(s, session, &forbidden)
}
