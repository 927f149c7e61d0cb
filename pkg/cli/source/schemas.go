package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

// SchemaFlags say by which schemas objects are read, and how strictly.
type SchemaFlags struct {
	Use         string   // one of SchemaUses
	Validate    string   // one of ValidateModes
	Definitions []string // files and folders with CustomResourceDefinitions
	Versions    []string // VENDOR=VERSION
	Steps       int
	Configured  map[string]string // versions by the config file
	Stored      bool              // objects that a server has stored are judged too
	ConfigRead  bool              // by the command; else the usual file says them
	Catalogue   *schema.Catalogue // that several engines share; nil: the engine makes its own

	definitions []*model.Object
	folders     []schema.SchemaFolder
	problems    []model.Problem // of reading them
}

// What --schemas and --validate take.
const (
	schemasAuto    = "auto"
	schemasOff     = "off"
	validateStrict = "strict"
	validateWarn   = "warn"
)

// SchemaUses lists what --schemas takes.
func SchemaUses() []string { return []string{schemasAuto, schemasOff} }

// ValidateModes lists what --validate takes.
func ValidateModes() []string { return []string{validateStrict, validateWarn} }

// ConfigFile is the config file that is read if it is in the current folder.
const ConfigFile = ".dopolicy.yaml"

// inputConfig is what the config file says about how an input is read.
type inputConfig struct {
	VendorVersions map[string]string `yaml:"vendorVersions"`
	Sources        map[string]string `yaml:"sources"`
	Substitute     map[string]string `yaml:"substitute"`
}

// readUsualConfig reads the config file in the current folder, if there is one.
func readUsualConfig() (inputConfig, error) {
	var config inputConfig
	text, err := localfile.Read(ConfigFile, false)
	if errors.Is(err, fs.ErrNotExist) {
		return config, nil
	}
	if err == nil {
		err = yaml.Unmarshal(text, &config)
	}
	if err != nil {
		return config, failure.NoAnswer(fmt.Sprintf("reading the config: %s", err), "mend or remove "+ConfigFile)
	}
	return config, nil
}

// chosenVersions lists the versions that are chosen: those of the flags come last and count.
func (f *SchemaFlags) chosenVersions() ([]string, error) {
	configured := f.Configured
	if !f.ConfigRead {
		config, err := readUsualConfig()
		if err != nil {
			return nil, err
		}
		configured = config.VendorVersions
	}
	var out []string
	for _, vendor := range slices.Sorted(maps.Keys(configured)) {
		out = append(out, vendor+"="+configured[vendor])
	}
	return append(out, f.Versions...), nil
}

// addFlags adds the flags of schemas.
func (f *SchemaFlags) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.Use, "schemas", schemasAuto,
		"auto: read manifests as the API server would, by the schemas of their kinds; off: as they are written")
	fs.StringVar(&f.Validate, "validate", validateStrict,
		"what becomes of an object with a field that its schema does not have. strict: it is refused; warn: the field is dropped")
	fs.StringSliceVar(&f.Definitions, "crds", nil,
		"file or folder (read recursively) with CustomResourceDefinitions, or a catalogue of JSON schemas GROUP/KIND_VERSION.json: schemas beside those of the input (repeatable)")
	fs.StringSliceVar(&f.Versions, "vendor-version", nil,
		"version whose built-in schemas are used, as VENDOR=VERSION, such as gatewayapi=1.5 (repeatable; default: the newest)")
	fs.IntVar(&f.Steps, "max-steps", schema.DefaultSteps,
		"how many steps patterns, lists of unique items and rules in schemas may take for all objects; those beyond are not judged, and the answer is incomplete")
	fs.Lookup("max-steps").Hidden = true
}

// checkFlags checks the words.
func (f *SchemaFlags) checkFlags() error {
	switch {
	case !slices.Contains(SchemaUses(), f.Use) && f.Use != "":
		return failure.Usage("use one of: "+strings.Join(SchemaUses(), ", "), "--schemas cannot be %q", f.Use)
	case !slices.Contains(ValidateModes(), f.Validate) && f.Validate != "":
		return failure.Usage("use one of: "+strings.Join(ValidateModes(), ", "), "--validate cannot be %q", f.Validate)
	case f.Steps < 0:
		return failure.Usage("write a number of steps from 1", "--max-steps cannot be %d", f.Steps)
	case slices.Contains(f.Definitions, "-"):
		return failure.Usage("name a file or a folder", "--crds cannot read standard input")
	}
	for _, v := range f.Versions {
		if vendor, version, ok := strings.Cut(v, "="); !ok || vendor == "" || version == "" {
			return failure.Usage("write VENDOR=VERSION, such as gatewayapi=1.5", "--vendor-version cannot be %q", v)
		}
	}
	return nil
}

// readOptions reads what the flags name. There is an error if it cannot be read, or there is no
// definition in it.
func (f *SchemaFlags) readOptions(ctx context.Context, limits load.Limits) (schema.Options, error) {
	o := schema.Options{Off: f.Use == schemasOff, Lenient: f.Validate == validateWarn, Steps: f.Steps, Stored: f.Stored,
		Catalogue: f.Catalogue}
	if err := f.checkFlags(); err != nil {
		return o, err
	}
	if len(f.Definitions) > 0 && f.definitions == nil {
		if err := f.readDefinitions(ctx, limits); err != nil {
			return o, err
		}
	}
	o.Definitions, o.Folders = f.definitions, f.folders
	return o, nil
}

// noteLinksOut notes the schemas of a folder that are links out of it, which are not read.
func (f *SchemaFlags) noteLinksOut(folder string, files []string) {
	for _, file := range files {
		if input.IsInside(folder, file) {
			continue
		}
		f.problems = append(f.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Origin:  &model.Origin{File: filepath.ToSlash(file), Line: 1},
			Message: "not read: it is a link that leads out of " + folder, Hint: "put the schema itself there"})
	}
}

func (f *SchemaFlags) readDefinitions(ctx context.Context, limits load.Limits) error {
	var paths []string
	f.folders = nil
	for _, name := range f.Definitions {
		if found, err := filepath.Glob(filepath.Join(name, "*", "*_*.json")); err == nil && len(found) > 0 {
			files, err := localfile.OpenFolder(name)
			if err != nil {
				return failure.NoAnswer(fmt.Sprintf("reading schemas: %s", err), "")
			}
			f.folders = append(f.folders, schema.SchemaFolder{Name: name, Files: files})
			f.noteLinksOut(name, found)
		} else {
			paths = append(paths, name)
		}
	}
	f.definitions = []*model.Object{}
	if len(paths) == 0 {
		return nil
	}
	in, err := load.Files(ctx, load.Options{Paths: paths, Recursive: true, Limits: limits})
	if err != nil {
		return err
	}
	f.definitions = in.Definitions()
	for _, p := range in.Problems {
		if p.Severity == model.Error || p.Code == model.NotEvaluated && p.Severity == model.Warning {
			f.problems = append(f.problems, p)
		}
	}
	if len(f.definitions)+len(f.problems) == 0 {
		return failure.NoAnswer(strings.Join(f.Definitions, ", ")+": contains no CustomResourceDefinition",
			"name the file or folder with the definitions, for example --crds config/crd")
	}
	return nil
}
