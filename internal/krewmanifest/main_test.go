package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func release(t *testing.T, archives ...string) string {
	t.Helper()
	dir := t.TempDir()
	var sums strings.Builder
	for i, name := range archives {
		fmt.Fprintf(&sums, "a%063d  kubectl-dopolicy_v1.2.3_%s\n", i, name)
	}
	for name, text := range map[string]string{"metadata.json": `{"tag":"v1.2.3","version":"1.2.3"}`,
		"checksums.txt": sums.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEveryArchiveHasItsChecksum(t *testing.T) {
	archives := []string{"linux_amd64.tar.gz", "linux_arm64.tar.gz", "darwin_amd64.tar.gz", "darwin_arm64.tar.gz",
		"windows_amd64.zip", "windows_arm64.zip"}
	dir := release(t, archives...)
	if err := run("../../"+manifest, dir, ""); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dopolicy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Spec struct {
			Version   string
			Platforms []struct{ URI, SHA256 string }
		}
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Spec.Version != "v1.2.3" || len(got.Spec.Platforms) != len(archives) {
		t.Fatalf("%s", text)
	}
	for i, p := range got.Spec.Platforms {
		if !strings.HasSuffix(p.URI, "/v1.2.3/kubectl-dopolicy_v1.2.3_"+archives[i]) ||
			p.SHA256 != fmt.Sprintf("a%063d", i) {
			t.Errorf("%s: %+v", archives[i], p)
		}
	}
}

func TestAMissingArchiveIsAnError(t *testing.T) {
	err := run("../../"+manifest, release(t, "linux_amd64.tar.gz"), "")
	if err == nil || !strings.Contains(err.Error(), "no checksum of kubectl-dopolicy_v1.2.3_linux_arm64.tar.gz") {
		t.Errorf("got %v", err)
	}
}

func TestOnePlatform(t *testing.T) {
	dir := release(t, "linux_amd64.tar.gz")
	if err := run("../../"+manifest, dir, "linux_amd64"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dopolicy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "sha256:"); n != 1 || !strings.Contains(string(text), "_linux_amd64.tar.gz") {
		t.Errorf("%d platforms in\n%s", n, text)
	}
}
