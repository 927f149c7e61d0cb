package source

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/localfile"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/gitops"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// RenderingFlags say what rendering an input takes from the user: which folders hold a source, and
// the values of variables.
type RenderingFlags struct {
	Sources        []string // NAME=FOLDER
	Substitutes    []string // NAME=VALUE
	SubstituteFrom []string // files of them

	ConfiguredSources map[string]string // by the config file
	ConfiguredValues  map[string]string
	ConfigRead        bool // by the command; else the usual file says them

	sources []gitops.SourceFolder
	values  gitops.Values
}

// AddFlags adds the flags of rendering.
func (f *RenderingFlags) AddFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.Sources, "source", nil,
		"with -R: folder that holds what a source has, as KIND/NAMESPACE/NAME=FOLDER for Flux or URL=FOLDER (repeatable)")
	fs.StringArrayVar(&f.Substitutes, "substitute", nil,
		"value of a variable ${NAME} that the input gives none, as NAME=VALUE (repeatable)")
	fs.StringArrayVar(&f.SubstituteFrom, "substitute-from", nil,
		"file with values of variables: lines NAME=VALUE, a YAML object, or a ConfigMap or Secret (repeatable)")
}

const (
	sourceHint     = "write --source GitRepository/NAMESPACE/NAME=FOLDER, or --source https://HOST/REPOSITORY=FOLDER"
	substituteHint = "write --substitute NAME=VALUE; a name has letters, digits and _"
)

var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alnum:]]*$`)

// Prepare reads what the flags and the config file say.
func (f *RenderingFlags) Prepare() error {
	sources, values := f.ConfiguredSources, f.ConfiguredValues
	if !f.ConfigRead {
		config, err := readUsualConfig()
		if err != nil {
			return err
		}
		sources, values = config.Sources, config.Substitute
	}
	f.sources, f.values = nil, gitops.Values{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if _, err := localfile.ResolveRelative("", sources[name]); err != nil && sources[name] != "" {
			return failure.NoAnswer(fmt.Sprintf("%s: sources: %s", ConfigFile, err),
				"name it with --source "+name+"=FOLDER")
		}
		if err := f.addSource(name, sources[name]); err != nil {
			return failure.Usage("write KIND/NAMESPACE/NAME: FOLDER, or https://HOST/REPOSITORY: FOLDER",
				"%s: sources: %s", ConfigFile, err)
		}
	}
	for _, text := range f.Sources {
		at := strings.LastIndexByte(text, '=')
		if at < 0 {
			return failure.Usage(sourceHint, "--source cannot be %q", text)
		}
		if err := f.addSource(text[:at], text[at+1:]); err != nil {
			return failure.Usage(sourceHint, "--source %s: %s", text, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !variableName.MatchString(name) {
			return failure.Usage("a name has letters, digits and _", "%s: substitute: %q is no name of a variable",
				ConfigFile, name)
		}
		f.values[name] = values[name]
	}
	for _, name := range f.SubstituteFrom {
		text, err := localfile.Read(name, true)
		if err != nil {
			return failure.NoAnswer(fmt.Sprintf("reading values of variables: %s", err), "check --substitute-from")
		}
		if err := f.addValues(text); err != nil {
			return failure.Usage("write lines NAME=VALUE, a YAML object of texts, or a ConfigMap or Secret",
				"--substitute-from %s: %s", name, err)
		}
	}
	for _, text := range f.Substitutes {
		name, value, found := strings.Cut(text, "=")
		if !found || !variableName.MatchString(name) {
			return failure.Usage(substituteHint, "--substitute cannot be %q", name)
		}
		f.values[name] = value
	}
	return nil
}

// addSource adds the folder of a source: what is said last counts.
func (f *RenderingFlags) addSource(name, folder string) error {
	s := gitops.SourceFolder{Source: name, Folder: folder}
	if err := s.Check(); err != nil {
		return err
	}
	f.sources = append(f.sources, s)
	return nil
}

// addValues adds the values in a file. Errors do not repeat what is in it.
func (f *RenderingFlags) addValues(text []byte) error {
	var first any
	if err := yaml.Unmarshal(text, &first); err == nil {
		if _, isMap := first.(map[string]any); isMap {
			return f.addYAMLValues(text)
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !found || !variableName.MatchString(name) {
			return fmt.Errorf("line %d is not NAME=VALUE", n)
		}
		value = strings.TrimSpace(value)
		if quote := value[:min(1, len(value))]; len(value) > 1 && (quote == `"` || quote == "'") &&
			strings.HasSuffix(value, quote) {
			value = value[1 : len(value)-1]
		}
		f.values[name] = value
	}
	return lines.Err()
}

// addYAMLValues adds the values of an object: its own, or those of ConfigMaps and Secrets. What is
// encrypted is none.
func (f *RenderingFlags) addYAMLValues(text []byte) error {
	docs := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var v map[string]any
		if err := docs.Decode(&v); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return errors.New("it is no YAML")
		}
		kind := model.Text(v, "kind")
		if model.Text(v, "apiVersion") != "v1" || kind != "ConfigMap" && kind != "Secret" {
			if err := f.addScalars(v); err != nil {
				return err
			}
			continue
		}
		data, _ := model.Get(v, "data").(map[string]any)
		decoded := map[string]any{}
		for name, value := range data {
			written, _ := value.(string)
			if kind == "Secret" && !strings.HasPrefix(written, "ENC[") {
				plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(written), ""))
				if err != nil {
					return fmt.Errorf("data.%s of the Secret is not base64", name)
				}
				value = string(plain)
			}
			decoded[name] = value
		}
		plain, _ := model.Get(v, "stringData").(map[string]any)
		if err := errors.Join(f.addScalars(decoded), f.addScalars(plain)); err != nil {
			return err
		}
	}
}

// addScalars adds the values of an object.
func (f *RenderingFlags) addScalars(v map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch value := v[name].(type) {
		case map[string]any, []any:
			return fmt.Errorf("%s is not a text", name)
		case nil:
			f.values[name] = ""
		default:
			if text := fmt.Sprint(value); !strings.HasPrefix(text, "ENC[") && variableName.MatchString(name) {
				f.values[name] = text
			}
		}
	}
	return nil
}

// Apply puts what the flags say into the options of reading.
func (f *RenderingFlags) Apply(o *load.Options) { o.Sources, o.Values = f.sources, f.values }

// checkFlags refuses what needs another flag.
func (f *RenderingFlags) checkFlags(recursive bool) error {
	if len(f.Sources) > 0 && !recursive {
		return failure.Usage("add -R, which follows Applications and Kustomizations", "--source needs -R")
	}
	return nil
}

// repeatFlags repeats the flags, for commands proposed to the user: values on the command line too.
func (f *RenderingFlags) repeatFlags(repeat func(flag string, values []string)) {
	repeat("--source", f.Sources)
	repeat("--substitute", f.Substitutes)
	repeat("--substitute-from", f.SubstituteFrom)
}
