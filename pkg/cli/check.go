package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// checkFlags are the flags of `check`.
type checkFlags struct {
	queryFlags
	ignore         []string
	config         string
	requirements   []string
	failOn         string
	showSuppressed bool
	list           bool
	crds           definitionFlags
	plugins        []plugin.Plugin
}

func (a App) newCheckCommand(s Streams) *cobra.Command {
	f := &checkFlags{plugins: a.Plugins}
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
			if f.list {
				return f.listFindings(s, args)
			}
			return a.runCheck(cmd, f, s, args)
		},
	}
	f.addFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name", "sarif", "junit", "github")
	f.noSchemas = false
	f.addTable(cmd)
	fs := cmd.Flags()
	fs.StringSliceVar(&f.ignore, "ignore", nil, "finding ids to ignore (repeatable)")
	f.crds.addDefinitionFlags(fs)
	fs.StringVar(&f.config, "config", "", "config file (default: "+configFile+" in the current folder, if present; none: no config file)")
	fs.StringVar(&f.failOn, "fail-on", string(model.Warning), "exit with 1 if there are findings of this severity or worse: "+strings.Join(check.Thresholds(), "|"))
	fs.StringArrayVar(&f.requirements, "requirements", nil, "file with requirements to check (repeatable; see docs/requirements.md)")
	fs.BoolVar(&f.showSuppressed, "show-suppressed", false, "also list ignored findings")
	fs.BoolVar(&f.list, "list", false, "list all finding ids, or explain the given ones")
	f.addCheckCompletion(a, cmd, s)
	cmd.AddCommand(a.newCheckTestCommand(s), newCoverageCommand(a, s))
	return cmd
}

// addCheckCompletion proposes ids of findings and the words of flags.
func (f *checkFlags) addCheckCompletion(a App, cmd *cobra.Command, s Streams) {
	a.addCompletion(cmd, &f.sourceFlags, s, nil)
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if f.list {
			return filterProposals(f.findingCatalogue().IDs(), typed)
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	completeFlagFrom(cmd, "fail-on", check.Thresholds())
	completeFlag(cmd, "ignore", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1] // the ids of the list that are already typed
		var words []string
		for _, id := range f.findingCatalogue().IDs() {
			words = append(words, before+id)
		}
		return filterProposals(words, typed)
	})
}

// runCheck runs the command.
func (a App) runCheck(cmd *cobra.Command, f *checkFlags, s Streams, folders []string) error {
	options, err := f.prepareOptions(cmd.Context(), cmd.Flags().Changed("fail-on"), cmd.Flags().Changed("config"), s)
	if err != nil {
		return err
	}
	f.files = append(f.files, folders...)
	if err := f.setProgramFacts(a.Build); err != nil {
		return err
	}
	session, err := f.openInput(cmd.Context(), a.Plugins, s)
	if err != nil {
		return err
	}
	session.Problems = append(session.Problems, f.crds.problems...)
	if options.Kinds, err = session.selectedKinds(); err != nil {
		return err
	}
	if err := (inputSelection{session}).checkNamespace(); err != nil {
		return err
	}
	if f.namespace != "" && !f.allNamespaces {
		options.In = func(namespace string) bool { return namespace == f.namespace }
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
	if err := f.writeOnly(s, session, "", report, &report.Envelope); err != nil {
		return err
	}
	if report.Fails() {
		return errFindings
	}
	return nil
}

// prepareOptions reads everything that a check needs beside the input: flags, config, requirements
// and definitions. The two booleans say which flags the user gave.
func (f *checkFlags) prepareOptions(ctx context.Context, failOnGiven, configGiven bool, s Streams) (check.Options, error) {
	options, err := f.readOptions(failOnGiven, configGiven)
	if err != nil {
		return options, err
	}
	if options.Requirements, err = f.loadRequirements(options.Config); err != nil {
		return options, err
	}
	if err := f.crds.readDefinitions(ctx, f.loadLimits(), s); err != nil {
		return options, err
	}
	f.clusterScoped, options.Definitions, options.Steps = load.ClusterScopedKinds(f.crds.definitions), f.crds.definitions, f.crds.steps
	return options, nil
}

// readOptions reads the flags and the config file that they name. The two booleans say which flags
// the user gave.
func (f *checkFlags) readOptions(failOnGiven, configGiven bool) (check.Options, error) {
	o := check.Options{ShowSuppressed: f.showSuppressed, Verbose: f.verbose || f.verbosity > 0, Catalogue: f.findingCatalogue()}
	for _, id := range f.ignore {
		id = strings.TrimSpace(id)
		if !o.Catalogue.Known(id) {
			return o, f.unknownFinding(id)
		}
		o.Ignore = append(o.Ignore, id)
	}
	if !slices.Contains(check.Thresholds(), f.failOn) {
		return o, newUsageError("use one of: "+strings.Join(check.Thresholds(), ", "), "--fail-on cannot be %q", f.failOn)
	}
	var err error
	o.Config, err = readConfig(f.config, configGiven, o.Catalogue)
	o.FailOn = check.Threshold(f.failOn)
	if o.Config.FailOn != "" && !failOnGiven {
		o.FailOn = o.Config.FailOn
	}
	return o, err
}

// findingCatalogue documents every finding that there can be.
func (f *checkFlags) findingCatalogue() check.Catalogue {
	return check.NewCatalogue(plugin.FindingRules(f.plugins))
}

// unknownFinding is the usage error for an id that is in no catalogue.
func (f *checkFlags) unknownFinding(id string) error {
	hint := "list them with: kubectl dopolicy check --list"
	if near := f.findingCatalogue().Nearest(id); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return newUsageError(hint, "there are no findings %q", id)
}
