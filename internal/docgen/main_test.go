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
	dir := t.TempDir()
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "effective.md") {
		t.Fatalf("missing pages go unnoticed: %v", err)
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Fatalf("fresh pages are stale: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cli", "reach.md"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "reach.md") {
		t.Errorf("a changed page goes unnoticed: %v", err)
	}
}
