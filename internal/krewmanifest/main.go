// Command krewmanifest fills krew-manifest.yaml in from the files of a release: the version from
// metadata.json, the checksums from checksums.txt. It takes the folder in which they are, and
// writes dopolicy.yaml there; a platform (linux_amd64) as second argument leaves out the others.
// krew-release-bot fills the same template in on GitHub; the function that it has for that,
// addURIAndSha, does here what it does there.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"
)

// manifest is the template, relative to the root of the repository.
const manifest = "krew-manifest.yaml"

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr,
			"error: krewmanifest takes the folder of the release, and a platform if it is for one alone")
		os.Exit(2)
	}
	only := strings.Join(os.Args[2:], "")
	if err := run(manifest, os.Args[1], only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run fills in the template for the release in dir, of one platform or, if only is "", of all.
func run(source, dir, only string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	meta, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	if err != nil {
		return err
	}
	var release struct{ Version string }
	if err := json.Unmarshal(meta, &release); err != nil {
		return fmt.Errorf("reading metadata.json: %w", err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		return err
	}
	out, err := fill(platforms(string(text), only), "v"+release.Version, checksums(string(sums)))
	if err != nil {
		return fmt.Errorf("filling in %s: %w", source, err)
	}
	return os.WriteFile(filepath.Join(dir, "dopolicy.yaml"), out, 0o644)
}

// platforms is the template without the platforms that are not the given one.
func platforms(text, only string) string {
	const entry = "\n  - selector:"
	parts := strings.Split(strings.TrimSuffix(text, "\n"), entry)
	kept := parts[:1]
	for _, part := range parts[1:] {
		if strings.Contains(part, "_"+only+".") || only == "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, entry) + "\n"
}

// checksums reads lines of a checksum and a file name, as sha256sum writes them.
func checksums(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			out[name] = sum
		}
	}
	return out
}

// fill fills in a template for a tag. Every archive that it names must have a checksum.
func fill(text, tag string, sums map[string]string) ([]byte, error) {
	data := struct{ TagName string }{tag}
	execute := func(t *template.Template, text string) ([]byte, error) {
		t, err := t.Parse(text)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = t.Execute(&b, data)
		return b.Bytes(), err
	}
	address := func(text, _ string) (string, error) {
		uri, err := execute(template.New("address"), text)
		if err != nil {
			return "", err
		}
		sum, ok := sums[path.Base(string(uri))]
		if !ok {
			return "", fmt.Errorf("no checksum of %s", path.Base(string(uri)))
		}
		return fmt.Sprintf("uri: %s\n    sha256: %s", uri, sum), nil
	}
	return execute(template.New("manifest").Funcs(template.FuncMap{"addURIAndSha": address}), text)
}
