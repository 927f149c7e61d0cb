package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// checkOptions are what the flags and arguments of the command say.
type checkOptions struct {
	Environment environment
	Args        []string // folders, or with List ids
	Query       queryFlags
	Findings    findingFlags
	List        bool
}

// newCheckCommand makes the command.
func newCheckCommand(env environment) *cobra.Command {
	f := &checkOptions{Environment: env, Findings: newFindingFlags(env.Plugins)}
	cmd := &cobra.Command{
		Use:   "check [FOLDER…]",
		Short: "Report mistakes in manifests or a cluster, locally and in CI",
		Long: `Report mistakes: dangling references, conflicts, policies and rules that are never in force, conditions that do not work,
fields that the API server would reject or drop, and input that cannot be evaluated. Every finding has a stable id; --list
documents all of them, --list ID just one.

Exit code 1 means that there are findings of the --fail-on severity or worse, in every output format.

To ignore a finding, give its id to --ignore, in the annotation ` + check.IgnoreAnnotation + ` of the object, or in a config
file (.dopolicy.yaml in the current folder, or --config FILE).

--requirements FILE checks the input against requirements of your own; "check test" tests such files, "check coverage"
finds what they do not notice. To check a folder called test or coverage, write ./test.`,
		Example: `  # manifests, before applying them
  kubectl dopolicy check manifests/

  # in CI: annotations on a pull request, errors only
  kubectl dopolicy check -f manifests/ -R -o github --fail-on error

  # the cluster with these manifests applied
  kubectl dopolicy check -f new.yaml --live -A

  # explain one finding id
  kubectl dopolicy check --list TargetNotFound

  # validate against CustomResourceDefinitions that are not among the manifests
  kubectl dopolicy check manifests/ --crds config/crd

  # your own requirements, written in CEL
  kubectl dopolicy check manifests/ --requirements requirements.yaml

  # ignore one finding
  kubectl dopolicy check manifests/ --ignore RuleShadowed`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = args
			return runCheck(cmd.Context(), f)
		},
	}
	f.Query.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name", "sarif", "junit", "github")
	f.Query.Source.noSchemas = false
	f.Query.Output.addTable(cmd)
	fs := cmd.Flags()
	fs.StringSliceVar(&f.Findings.ignore, "ignore", nil, "finding ids to ignore (repeatable)")
	f.Findings.addFindingFlags(fs, "config file")
	fs.StringVar(&f.Findings.failOn, "fail-on", string(model.Warning), "exit with 1 if there are findings of this severity or worse: "+strings.Join(check.Thresholds(), "|"))
	fs.BoolVar(&f.Findings.showSuppressed, "show-suppressed", false, "also list ignored findings")
	fs.BoolVar(&f.List, "list", false, "list all finding ids, or explain the given ones")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		f.Findings.noteGiven(cmd)
		return f.Query.Output.checkOutput(cmd.Flags().Changed("output"))
	}
	f.addCompletion(cmd)
	cmd.AddCommand(newCheckTestCommand(env), newCoverageCommand(env))
	return cmd
}

// addCompletion proposes ids of findings and the words of flags.
func (f *checkOptions) addCompletion(cmd *cobra.Command) {
	addCompletion(cmd, f.Environment, &f.Query.Source, nil)
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if f.List {
			return filterProposals(f.Findings.findingCatalogue().IDs(), typed)
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	completeFlagFrom(cmd, "fail-on", check.Thresholds())
	completeFlag(cmd, "ignore", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1] // the ids of the list that are already typed
		var words []string
		for _, id := range f.Findings.findingCatalogue().IDs() {
			words = append(words, before+id)
		}
		return filterProposals(words, typed)
	})
}

// runCheck checks the input, or lists what can be found.
func runCheck(ctx context.Context, f *checkOptions) error {
	s := f.Environment.Streams
	if f.List {
		return f.listFindings(s, f.Args)
	}
	options, err := f.Findings.prepareOptions(ctx, &f.Query.Source, f.Query.Output.verbose, s)
	if err != nil {
		return err
	}
	f.Query.Source.files = append(f.Query.Source.files, f.Args...)
	if err := f.Query.Output.setProgramFacts(f.Environment.Build); err != nil {
		return err
	}
	session, err := f.Query.Source.openInput(ctx, f.Environment)
	if err != nil {
		return err
	}
	session.Problems = append(session.Problems, f.Findings.crds.problems...)
	if options.Kinds, err = session.selectedKinds(); err != nil {
		return err
	}
	if err := session.checkNamespace(); err != nil {
		return err
	}
	if f.Query.Source.namespace != "" && !f.Query.Source.allNamespaces {
		options.In = func(namespace string) bool { return namespace == f.Query.Source.namespace }
	}
	report := session.Check(options)
	if options.Verbose {
		var unused []model.Problem
		for _, message := range report.Unused {
			unused = append(unused, model.Problem{Severity: model.Info, Message: message})
		}
		if err := render.WriteProblems(s.Err, unused, render.ProblemOptions{Verbose: true}); err != nil {
			return err
		}
	}
	if err := f.Query.Output.writeOnly(s, session, "", report, &report.Envelope); err != nil {
		return err
	}
	if report.Fails() {
		return errFindings
	}
	return nil
}
