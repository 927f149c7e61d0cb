package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// findingFlags say what counts as a finding: for check, and for the commands whose answers include
// its findings.
type findingFlags struct {
	ignore         []string
	config         string
	configGiven    bool // --config is the user's
	requirements   []string
	failOn         string
	failOnGiven    bool // --fail-on is the user's
	showSuppressed bool
	crds           definitionFlags
	plugins        []plugin.Plugin
}

// newFindingFlags makes the flags with their defaults, for commands that have few of them.
func newFindingFlags(plugins []plugin.Plugin) findingFlags {
	return findingFlags{failOn: string(model.Warning), plugins: plugins}
}

// addFindingFlags adds the flags that every command with findings has.
func (f *findingFlags) addFindingFlags(fs *pflag.FlagSet, configUsage string) {
	f.crds.addDefinitionFlags(fs)
	fs.StringVar(&f.config, "config", "", configUsage+" (default: "+configFile+" in the current folder, if present; none: no config file)")
	fs.StringArrayVar(&f.requirements, "requirements", nil, "file with requirements to check (repeatable; see docs/requirements.md)")
}

// noteGiven notes which flags the user gave.
func (f *findingFlags) noteGiven(cmd *cobra.Command) {
	f.configGiven, f.failOnGiven = cmd.Flags().Changed("config"), cmd.Flags().Changed("fail-on")
}

// prepareOptions reads everything that a check needs beside the input: flags, config, requirements
// and definitions. It tells the source which kinds the definitions add.
func (f *findingFlags) prepareOptions(ctx context.Context, input *sourceFlags, verbose bool, s Streams) (check.Options, error) {
	options, err := f.readOptions(verbose || input.cluster.verbosity > 0)
	if err != nil {
		return options, err
	}
	if options.Requirements, err = f.loadRequirements(options.Config); err != nil {
		return options, err
	}
	if err := f.crds.readDefinitions(ctx, input.limits.loadLimits(), s); err != nil {
		return options, err
	}
	input.clusterScoped, options.Definitions, options.Steps = load.ClusterScopedKinds(f.crds.definitions), f.crds.definitions, f.crds.steps
	return options, nil
}

// readOptions reads the flags and the config file that they name.
func (f *findingFlags) readOptions(verbose bool) (check.Options, error) {
	o := check.Options{ShowSuppressed: f.showSuppressed, Verbose: verbose, Catalogue: f.findingCatalogue()}
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
	o.Config, err = readConfig(f.config, f.configGiven, o.Catalogue)
	o.FailOn = check.Threshold(f.failOn)
	if o.Config.FailOn != "" && !f.failOnGiven {
		o.FailOn = o.Config.FailOn
	}
	return o, err
}

// findingCatalogue documents every finding that there can be.
func (f *findingFlags) findingCatalogue() check.Catalogue {
	return check.NewCatalogue(plugin.FindingRules(f.plugins))
}

// unknownFinding is the usage error for an id that is in no catalogue.
func (f *findingFlags) unknownFinding(id string) error {
	hint := "list them with: kubectl dopolicy check --list"
	if near := f.findingCatalogue().Nearest(id); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return newUsageError(hint, "there are no findings %q", id)
}
