package finding

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// Flags say what counts as a finding: for check, and for the commands whose answers include
// its findings.
type Flags struct {
	Ignore         []string
	Config         string
	ConfigGiven    bool // --config is the user's
	Requirements   []string
	FailOn         string
	FailOnGiven    bool // --fail-on is the user's
	ShowSuppressed bool
	plugins        []plugin.Plugin
}

// NewFlags makes the flags with their defaults, for commands that have few of them.
func NewFlags(plugins []plugin.Plugin) Flags {
	return Flags{FailOn: string(model.Warning), plugins: plugins}
}

// AddFlags adds the flags that every command with findings has.
func (f *Flags) AddFlags(fs *pflag.FlagSet, configUsage string) {
	fs.StringVar(&f.Config, "config", "", configUsage+" (default: "+source.ConfigFile+
		" in the current folder, if present; none: no config file)")
	fs.StringArrayVar(&f.Requirements, "requirements", nil,
		"file with requirements to check (repeatable; see docs/requirements.md)")
}

// NoteGiven notes which flags the user gave.
func (f *Flags) NoteGiven(cmd *cobra.Command) {
	f.ConfigGiven, f.FailOnGiven = cmd.Flags().Changed("config"), cmd.Flags().Changed("fail-on")
}

// Prepare reads everything that a check needs beside the input: flags, config and requirements.
func (f *Flags) Prepare(input *source.Flags, verbose bool) (check.Options, error) {
	options, err := f.readOptions(verbose || input.Cluster.Verbosity > 0)
	if err != nil {
		return options, err
	}
	input.Schemas.Configured = options.Config.VendorVersions
	input.Schemas.ConfigRead = true
	input.Rendering.ConfiguredSources, input.Rendering.ConfiguredValues = options.Config.Sources,
		options.Config.Substitute
	input.Rendering.ConfigRead = true
	if options.Requirements, err = f.LoadRequirements(options.Config); err != nil {
		return options, err
	}
	return options, nil
}

// readOptions reads the flags and the config file that they name.
func (f *Flags) readOptions(verbose bool) (check.Options, error) {
	o := check.Options{ShowSuppressed: f.ShowSuppressed, Verbose: verbose, Catalogue: f.Catalogue()}
	for _, id := range f.Ignore {
		id = strings.TrimSpace(id)
		if !o.Catalogue.Known(id) {
			return o, f.UnknownError(id)
		}
		o.Ignore = append(o.Ignore, id)
	}
	if !slices.Contains(check.Thresholds(), f.FailOn) {
		return o, failure.Usage("use one of: "+strings.Join(check.Thresholds(), ", "), "--fail-on cannot be %q",
			f.FailOn)
	}
	var err error
	o.Config, err = readConfig(f.Config, f.ConfigGiven, o.Catalogue)
	o.FailOn = check.Threshold(f.FailOn)
	if o.Config.FailOn != "" && !f.FailOnGiven {
		o.FailOn = o.Config.FailOn
	}
	return o, err
}

// Catalogue documents every finding that there can be.
func (f *Flags) Catalogue() check.Catalogue {
	return check.NewCatalogue(plugin.FindingRules(f.plugins))
}

// UnknownError is the usage error for an id that is in no catalogue.
func (f *Flags) UnknownError(id string) error {
	hint := "list them with: kubectl dopolicy check --list"
	if near := f.Catalogue().Nearest(id); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return failure.Usage(hint, "there are no findings %q", id)
}
