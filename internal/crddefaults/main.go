// Command crddefaults takes the defaults of a vendor's CustomResourceDefinitions into its
// kinds.yaml, so that none is missing. The file names the Go module that has the definitions and
// the folder in it, in a comment: "# defaults: MODULE@VERSION FOLDER [KIND.GROUP]...". Where kinds
// are named, only theirs are taken. With -check it writes nothing and fails if the file is not up
// to date.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "only report a file that is not up to date")
	flag.Parse()
	for _, file := range flag.Args() {
		if err := run(file, *check); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

func run(file string, check bool) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	from, err := sourceOf(old)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	dir, err := download(from.module)
	if err != nil {
		return fmt.Errorf("getting %s: %w", from.module, err)
	}
	definitions, err := from.read(dir)
	if err != nil {
		return err
	}
	switch out := filled(old, definitions); {
	case bytes.Equal(old, out):
		return nil
	case check:
		return fmt.Errorf("%s has not the defaults of %s (make vendor-defaults)", file, from.module)
	default:
		return os.WriteFile(file, out, 0o644)
	}
}

// source is where a file says that its definitions are.
type source struct {
	module, folder string
	kinds          []string // KIND.GROUP; none: all that the file has
}

var named = regexp.MustCompile(`(?m)^# defaults: (\S+@\S+) (\S+)((?: \S+)*)$`)

func sourceOf(text []byte) (source, error) {
	found := named.FindSubmatch(text)
	if found == nil {
		return source{},
			fmt.Errorf(
				"no comment \"# defaults: MODULE@VERSION FOLDER [KIND.GROUP]...\" says where the definitions are")
	}
	return source{string(found[1]), string(found[2]), strings.Fields(string(found[3]))}, nil
}

// read reads the definitions that a source names, from the folder of its module.
func (s source) read(dir string) (map[string][]value, error) {
	definitions, err := readFolder(filepath.Join(dir, s.folder))
	if err != nil {
		return nil, err
	}
	if len(s.kinds) > 0 {
		maps.DeleteFunc(definitions, func(kind string, _ []value) bool { return !slices.Contains(s.kinds, kind) })
	}
	return definitions, nil
}

// download is the folder of a module in the module cache, into which it is loaded if it is not
// there.
func download(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // outside of this module, which does not need the other one
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if len(out) > 0 && json.Unmarshal(out, &found) == nil && found.Error != "" {
		return "", fmt.Errorf("%s", strings.TrimSpace(found.Error))
	}
	if err != nil {
		return "", err
	}
	return found.Dir, nil
}
