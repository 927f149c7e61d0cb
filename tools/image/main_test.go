package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// built is the program as the release builds it, for this machine's architecture.
func built(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), programName)
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "kustomize_disable_go_plugin_support", "-ldflags", "-s -w", "-o", out, "./cmd/kubectl-dopolicy")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, text)
	}
	return out
}

// made is the layout of an image of two platforms, with the same program for both.
func made(t *testing.T, file string) (path string, index v1.ImageIndex) {
	t.Helper()
	other := map[string]string{"amd64": "arm64"}[runtime.GOARCH]
	if other == "" {
		other = "amd64"
	}
	r := request{programs: []program{{"linux", runtime.GOARCH, file}, {"linux", other, file}}, licence: "../../LICENSE", out: filepath.Join(t.TempDir(), "image"), version: "v1.2.3"}
	if err := run(r, "2026-01-02T03:04:05Z", ""); err != nil {
		t.Fatal(err)
	}
	whole, err := layout.ImageIndexFromPath(r.out)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := whole.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Fatalf("the layout has %+v: %v", manifest, err)
	}
	if index, err = whole.ImageIndex(manifest.Manifests[0].Digest); err != nil {
		t.Fatal(err)
	}
	return r.out, index
}

// images are those of an index, by architecture.
func images(t *testing.T, index v1.ImageIndex) map[string]v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]v1.Image{}
	for _, d := range manifest.Manifests {
		if out[d.Platform.Architecture], err = index.Image(d.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// unpack unpacks the layers of an image and returns what is in them.
func unpack(t *testing.T, image v1.Image, root string) []string {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	text, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	var names []string
	for r := tar.NewReader(text); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s is of type %c, of %d:%d", h.Name, h.Typeflag, h.Uid, h.Gid)
		}
		names = append(names, h.Name)
		file, err := os.OpenFile(filepath.Join(root, filepath.Clean("/"+h.Name)), os.O_CREATE|os.O_WRONLY, os.FileMode(h.Mode))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(file, r); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestImage: two files, for two platforms, in a valid layout, and the same bytes from the same files.
func TestImage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, index := made(t, file)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	all := images(t, index)
	if len(all) != 2 || all["amd64"] == nil && all["arm64"] == nil {
		t.Fatalf("there are images for %v", all)
	}
	for arch, image := range all {
		root := t.TempDir()
		if names := unpack(t, image, root); strings.Join(names, " ") != "LICENSE kubectl-dopolicy" {
			t.Errorf("%s has %q", arch, names)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Config.User != "65532:65532" || strings.Join(config.Config.Entrypoint, " ") != "/kubectl-dopolicy" || config.Architecture != arch || config.OS != "linux" || len(config.Config.Cmd) > 0 {
			t.Errorf("%s: %+v", arch, config.Config)
		}
		if info, err := os.Stat(filepath.Join(root, programName)); err != nil || info.Mode().Perm() != 0o555 {
			t.Errorf("%s: the program is %v, %v", arch, info, err)
		}
	}
	_, again := made(t, file)
	first, _ := index.Digest()
	second, _ := again.Digest()
	if first != second {
		t.Errorf("the same files make %s and %s", first, second)
	}
}

// TestReleased takes the programs for Linux from a release.
func TestReleased(t *testing.T) {
	dist := filepath.Join(t.TempDir(), "dist")
	if err := os.MkdirAll(dist, 0o755); err != nil {
		t.Fatal(err)
	}
	const list = `[{"type": "Binary", "path": "dist/b/kubectl-dopolicy", "goos": "linux", "goarch": "arm64", "extra": {"Binary": "kubectl-dopolicy"}},
		{"type": "Binary", "path": "dist/a/kubectl-dopolicy", "goos": "linux", "goarch": "amd64", "extra": {"Binary": "kubectl-dopolicy"}},
		{"type": "Binary", "path": "dist/a/dopolicy-draw", "goos": "linux", "goarch": "amd64", "extra": {"Binary": "dopolicy-draw"}},
		{"type": "Binary", "path": "dist/c/kubectl-dopolicy", "goos": "darwin", "goarch": "arm64", "extra": {"Binary": "kubectl-dopolicy"}},
		{"type": "Archive", "path": "dist/kubectl-dopolicy.tar.gz", "goos": "linux", "goarch": "amd64", "extra": {}}]`
	if err := os.WriteFile(filepath.Join(dist, "artifacts.json"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := released(dist)
	if err != nil || len(got) != 2 || got[0].arch != "amd64" || got[0].file != filepath.Join(dist, "a", programName) || got[1].arch != "arm64" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestStart unpacks the image of this machine's architecture and starts its program with nothing else in its root, as nobody.
func TestStart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("images are for Linux")
	}
	file := built(t)
	if binary, err := elf.Open(file); err != nil {
		t.Fatal(err)
	} else if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the program needs %q: %v", libraries, err)
	}
	_, index := made(t, file)
	root := t.TempDir()
	unpack(t, images(t, index)[runtime.GOARCH], root)
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 {
		t.Fatalf("the root has %v: %v", entries, err)
	}
	for _, c := range []struct {
		args  []string
		input string
		code  int
		say   string
	}{
		{[]string{"version"}, "", 0, "linux/" + runtime.GOARCH},
		{[]string{"effective", "-A", "-f", "-"}, "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: a}\nspec: {controllerName: example.com/a}\n", 0, "no routes in the input"},
		{[]string{"publish"}, "", 3, "kubeconfig"},
	} {
		var out bytes.Buffer
		cmd := exec.Command("/"+programName, c.args...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = "/", []string{}, strings.NewReader(c.input), &out, &out
		if !alone(cmd, root) {
			t.Skip("changing the root takes the rights of root")
		}
		start := time.Now()
		err := cmd.Run()
		if cmd.ProcessState == nil {
			t.Skipf("the root cannot be changed here: %v", err)
		}
		if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(out.String(), c.say) {
			t.Errorf("%q: exit %d after %s: %s", c.args, cmd.ProcessState.ExitCode(), time.Since(start), &out)
		}
	}
}
