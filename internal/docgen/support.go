package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// kindTable is the table of the policy kinds of all implementations, a row for those that are read
// alike, with the number of semantic vectors about the kinds of a row.
func kindTable(dir string, c *descriptor.Catalog) (string, error) {
	var table strings.Builder
	table.WriteString("| implementation | policy kinds | how they are read | vectors |\n|---|---|---|---|\n")
	for _, p := range plugins.All() {
		title, err := titleOf(filepath.Join(dir, "vendors", p.Name+".md"), p.Name)
		if err != nil {
			return "", err
		}
		known, err := vectors(filepath.Join(dir, "../testdata/vendors", p.Name))
		if err != nil {
			return "", err
		}
		var docs []string
		alike := map[string][]model.GroupKind{}
		for _, k := range c.Kinds() {
			if k.Vendor != p.Name {
				continue
			}
			if alike[k.Doc] == nil {
				docs = append(docs, k.Doc)
			}
			alike[k.Doc] = append(alike[k.Doc], k.GroupKind)
		}
		for _, doc := range docs {
			fmt.Fprintf(&table, "| [%s](%s.md) | %s | %s | %d |\n", title, p.Name, names(alike[doc]), doc,
				proving(known, alike[doc]))
		}
	}
	return table.String(), nil
}

// releaseTable is the table of what each implementation was last held against.
func releaseTable(dir string, c *descriptor.Catalog) (string, error) {
	var table strings.Builder
	table.WriteString("| implementation | read | on |\n|---|---|---|\n")
	for _, p := range plugins.All() {
		title, err := titleOf(filepath.Join(dir, "vendors", p.Name+".md"), p.Name)
		if err != nil {
			return "", err
		}
		read, ok := c.ReviewOf(p.Name)
		if !ok {
			return "", fmt.Errorf("the kinds.yaml of %s does not say which release was read (reviewed)", p.Name)
		}
		fmt.Fprintf(&table, "| [%s](%s.md) | %s | %s |\n", title, p.Name, read.Release, read.Date)
	}
	return table.String(), nil
}

// names lists kinds without their groups.
func names(kinds []model.GroupKind) string {
	var out []string
	for _, gk := range kinds {
		out = append(out, gk.Kind)
	}
	return strings.Join(out, ", ")
}

// titleOf is the heading of a page; of one that is not there yet, its name.
func titleOf(page, name string) (string, error) {
	text, err := os.ReadFile(page)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	}
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimPrefix(string(line), "# "), nil
}
