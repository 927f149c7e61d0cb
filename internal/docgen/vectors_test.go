package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestVectorsAreCountedOnceForEachRow(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"effective.yaml": "expect: [{policyKind: A.example.com}, {policyKind: B.example.com}]\n---\nkind: Pod\n",
		"status.yaml":    "status: [{object: {kind: B, name: b}}]\n",
		"connect.yaml":   "connections: [{port: 1}]\n---\napiVersion: example.com/v1\nkind: A\n",
		"base.yaml":      "status: [{object: {kind: A, name: a}}]\n",
		"README.md":      "expect: [{policyKind: A.example.com}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := vectors(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := model.ParseGroupKind("A.example.com"), model.ParseGroupKind("B.example.com"), model.ParseGroupKind(
		"C.example.com")
	for _, test := range []struct {
		kinds []model.GroupKind
		want  int
	}{{[]model.GroupKind{a}, 2}, {[]model.GroupKind{b}, 2}, {[]model.GroupKind{a, b}, 3}, {[]model.GroupKind{c}, 0}} {
		if got := proving(all, test.kinds); got != test.want {
			t.Errorf("%v: %d vectors, want %d", test.kinds, got, test.want)
		}
	}
}

func TestBrokenVectorIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "broken.yaml"), []byte("expect: {\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := vectors(dir); err == nil {
		t.Error("a vector that cannot be read is passed over")
	}
	if all, err := vectors(filepath.Join(dir, "missing")); err != nil || all != nil {
		t.Errorf("%v %v", all, err)
	}
}
