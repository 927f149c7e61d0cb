package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVendorsAreUpToDate(t *testing.T) {
	if err := run("../../plugins", true); err != nil {
		t.Error(err)
	}
}

func TestCheckNoticesChanges(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "acme", "kinds.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	source := "# a comment\nb: &x [1, \"1\", true, null, {}]\na: *x\n---\nc: \"<d> & \\u00e9\"\n"
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "kinds.json") {
		t.Fatalf("a missing file goes unnoticed: %v", err)
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "acme", "kinds.json"))
	want := "[\n{\"b\":[1,\"1\",true,null,{}],\"a\":[1,\"1\",true,null,{}]},\n{\"c\":\"<d> & é\"}\n]\n"
	if err != nil || string(got) != want {
		t.Errorf("%s %v", got, err)
	}
	if err := run(dir, true); err != nil {
		t.Error(err)
	}
	if err := run(t.TempDir(), true); err == nil {
		t.Error("a folder without vendors goes unnoticed")
	}
}
