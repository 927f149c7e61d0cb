package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReferenceIsUpToDate(t *testing.T) {
	if err := run("../../docs", true); err != nil {
		t.Error(err)
	}
}

func TestCheckNoticesChanges(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "docs")
	for name, blocks := range map[string][]string{"docs/policy-kinds.md": {"settings"}, "docs/vendors/README.md": {"kinds", "releases"},
		"docs/audit.md": {"audit"}, "docs/redact.md": {"kept"}} {
		var page strings.Builder
		for _, block := range blocks {
			page.WriteString("before\n<!-- generated: " + block + " -->\nold\n<!-- end -->\nafter\n")
		}
		if err := os.MkdirAll(filepath.Join(dir, "vendors"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "effective.md") {
		t.Fatalf("missing pages go unnoticed: %v", err)
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Fatalf("fresh pages are stale: %v", err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "vendors", "README.md"))
	if err != nil || !strings.HasPrefix(string(page), "before\n<!-- generated: kinds -->\n| implementation |") ||
		!strings.HasSuffix(string(page), "|\n<!-- end -->\nafter\n") {
		t.Errorf("%s %v", page, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cli", "reach.md"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "reach.md") {
		t.Errorf("a changed page goes unnoticed: %v", err)
	}
}
