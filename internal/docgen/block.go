package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/redact"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// block is a part of a page that is generated: what stands between the lines <!-- generated: NAME
// --> and <!-- end -->.
type block struct{ file, name, text string }

// blocks makes the generated parts of pages that people write; files are named from the folder of
// the documentation, which is given: the semantic vectors are counted beside it.
func blocks(dir string) ([]block, error) {
	c, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		return nil, err
	}
	var settings strings.Builder
	kinds, err := kindTable(dir, c)
	if err != nil {
		return nil, err
	}
	settings.WriteString("| setting | values, default first | meaning |\n|---|---|---|\n")
	for _, s := range c.KnownSettings() {
		var values []string
		if s.Default != "" {
			values = append(values, "`"+s.Default+"`")
		}
		for _, v := range s.AllowedValues() {
			if v != s.Default {
				values = append(values, "`"+v+"`")
			}
		}
		if len(s.AllowedValues()) == 0 {
			values = append(values, "any text")
		}
		fmt.Fprintf(&settings, "| `%s` | %s | %s |\n", s.Name, strings.Join(values, ", "),
			strings.ReplaceAll(s.Doc, "|", "\\|"))
	}
	releases, err := releaseTable(dir, c)
	if err != nil {
		return nil, err
	}
	return []block{{"vendors/README.md", "kinds", kinds}, {"vendors/README.md", "releases", releases},
		{"policy-kinds.md", "settings", settings.String()}, {"audit.md", "audit", auditTables()}, {"redact.md", "kept",
			keptTable()}}, nil
}

// keptTable says what redacted output keeps of objects that are no policies.
func keptTable() string {
	var out strings.Builder
	out.WriteString("| of | stays | is taken out |\n|---|---|---|\n")
	for _, row := range redact.Rows() {
		of := row.Of
		if len(row.Kinds) > 0 {
			of += " (" + strings.Join(row.Kinds, ", ") + ")"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", of, row.Stays, cmp.Or(row.Goes, "everything else"))
	}
	return out.String()
}

// fillIn is a page with a block's text in its place.
func (b block) fillIn(page []byte) ([]byte, error) {
	open, end := []byte("<!-- generated: "+b.name+" -->\n"), []byte("<!-- end -->\n")
	before, rest, found := bytes.Cut(page, open)
	_, after, closed := bytes.Cut(rest, end)
	if !found || !closed {
		return nil, fmt.Errorf("%s has no block %q", b.file, b.name)
	}
	return bytes.Join([][]byte{before, open, []byte(b.text), end, after}, nil), nil
}

// pagesWith are the pages of the folder with all blocks filled in, by name.
func pagesWith(dir string, blocks []block) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, b := range blocks {
		page, known := out[b.file]
		if !known {
			var err error
			if page, err = os.ReadFile(filepath.Join(dir, b.file)); err != nil {
				return nil, err
			}
		}
		filled, err := b.fillIn(page)
		if err != nil {
			return nil, err
		}
		out[b.file] = filled
	}
	return out, nil
}
