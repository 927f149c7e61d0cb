// Command schemagen writes the catalogues of schemas that come with the program: for every release
// that plugins/VENDOR/schemas/sources.yaml names, the CustomResourceDefinitions of its Go module
// without descriptions, as plugins/VENDOR/schemas/NAME/RELEASE.zip. A definition that an earlier
// file of the list has already is kept as a reference to it. With -check it writes nothing and
// fails if a file is not up to date.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

func main() {
	check := flag.Bool("check", false, "only report files that are not up to date")
	dir := flag.String("dir", "plugins", "folder of the vendors")
	flag.Parse()
	if err := run(*dir, *check, download); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// source is the definitions of one release of a catalogue.
type source struct {
	Name    string   `json:"name"`    // of the catalogue, such as envoygateway
	Release string   `json:"release"` // such as 1.9.1 or 1.9.1-standard
	Module  string   `json:"module"`  // MODULE@VERSION; "": the files are beside the list
	Paths   []string `json:"paths"`   // files or folders in the module
}

// run writes the files of all vendors; folder returns where the files of a module are.
func run(dir string, check bool, folder func(module string) (string, error)) error {
	lists, err := filepath.Glob(filepath.Join(dir, "*", "schemas", "sources.yaml"))
	if err != nil || len(lists) == 0 {
		return fmt.Errorf("no schemas/sources.yaml in the folders of %s (%w)", dir, errors.Join(err, os.ErrNotExist))
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			return err
		}
		var sources []source
		if err := yaml.UnmarshalStrict(text, &sources); err != nil {
			return fmt.Errorf("%s: %w", list, err)
		}
		if err := writeReleases(filepath.Dir(list), sources, check, folder); err != nil {
			return fmt.Errorf("%s: %w", list, err)
		}
	}
	return nil
}

// writeReleases writes the files of one vendor, in the order of its list.
func writeReleases(dir string, sources []source, check bool, folder func(string) (string, error)) error {
	written := map[string]map[string]string{} // catalogue, definition: the release that has it
	for _, s := range sources {
		module := dir
		if s.Module != "" {
			var err error
			if module, err = folder(s.Module); err != nil {
				return fmt.Errorf("getting %s: %w", s.Module, err)
			}
		}
		entries := map[string][]byte{}
		for _, path := range s.Paths {
			if err := readDefinitions(filepath.Join(module, filepath.FromSlash(path)), entries); err != nil {
				return fmt.Errorf("%s: %w", s.Module, err)
			}
		}
		if len(entries) == 0 {
			return fmt.Errorf("%s has no definitions in %s", s.Module, strings.Join(s.Paths, ", "))
		}
		if written[s.Name] == nil {
			written[s.Name] = map[string]string{}
		}
		for kind, text := range entries {
			if earlier, ok := written[s.Name][kind+string(text)]; ok {
				entries[kind] = schema.SameAs(earlier)
			} else {
				written[s.Name][kind+string(text)] = s.Release
			}
		}
		if err := writeArchive(filepath.Join(dir, s.Name, s.Release+".zip"), entries, check); err != nil {
			return err
		}
	}
	return nil
}

// readDefinitions reads the definitions of a file or of a folder and those below it, by KIND.GROUP.
func readDefinitions(path string, into map[string][]byte) error {
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ext := filepath.Ext(file); entry.IsDir() || ext != ".yaml" && ext != ".yml" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte("CustomResourceDefinition")) {
			return err
		}
		for _, doc := range strings.Split("\n"+withoutTemplates(string(text)), "\n---") {
			kind, definition, err := reduceDefinition(doc)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if kind != "" {
				into[kind] = definition
			}
		}
		return nil
	})
}

// withoutTemplates leaves out the lines that only a template engine reads.
func withoutTemplates(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "{{") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// reduceDefinition returns a definition as JSON with what the program needs; "" for a document that
// is none.
func reduceDefinition(doc string) (kind string, text []byte, err error) {
	var crd struct {
		Kind string `json:"kind"`
		Spec struct {
			Group    string           `json:"group"`
			Names    map[string]any   `json:"names"`
			Scope    string           `json:"scope"`
			Versions []map[string]any `json:"versions"`
		} `json:"spec"`
	}
	if !strings.Contains(doc, "kind: CustomResourceDefinition") {
		return "", nil, nil
	}
	if err := yaml.Unmarshal([]byte(doc), &crd); err != nil {
		return "", nil, err
	}
	name, _ := crd.Spec.Names["kind"].(string)
	if crd.Kind != "CustomResourceDefinition" || name == "" || len(crd.Spec.Versions) == 0 {
		return "", nil, nil // a patch of a kustomization
	}
	for _, v := range crd.Spec.Versions {
		maps.DeleteFunc(v, func(key string, _ any) bool {
			return !slices.Contains([]string{"name", "served", "schema", "subresources"}, key)
		})
		schema.RemoveDescriptions(v["schema"])
	}
	text, err = json.Marshal(map[string]any{"scope": crd.Spec.Scope, "plural": crd.Spec.Names["plural"],
		"versions": crd.Spec.Versions})
	return name + "." + crd.Spec.Group, text, err
}

// writeArchive writes entries as a zip file, unless it is there with the same content.
func writeArchive(file string, entries map[string][]byte, check bool) error {
	if old, err := readArchive(file); err == nil && maps.EqualFunc(old, entries, bytes.Equal) {
		return nil
	}
	if check {
		return fmt.Errorf("%s is not up to date (make schemas)", file)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.BestCompression)
	})
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		entry, err := w.Create(name)
		if err != nil {
			return err
		}
		if _, err := entry.Write(entries[name]); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

func readArchive(file string) (map[string][]byte, error) {
	r, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := map[string][]byte{}
	for _, entry := range r.File {
		text, err := fs.ReadFile(r, entry.Name)
		if err != nil {
			return nil, err
		}
		out[entry.Name] = text
	}
	return out, nil
}

// download returns the folder of a module in the module cache, into which it is loaded if it is not
// there.
func download(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // outside of this module, which does not need the other one
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=auto")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if len(out) > 0 && json.Unmarshal(out, &found) == nil && found.Error != "" {
		return "", errors.New(strings.TrimSpace(found.Error))
	}
	if err != nil {
		return "", err
	}
	return found.Dir, nil
}
