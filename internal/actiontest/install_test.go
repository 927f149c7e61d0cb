package actiontest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// packProgram makes the archive of a release whose program says its name.
func packProgram(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	program := []byte("#!/bin/sh\necho the program\n")
	header := &tar.Header{Name: "kubectl-dopolicy", Mode: 0o755, Size: int64(len(program))}
	if err := archive.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(program); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// serve is curl, which gets the files of one release from a folder, over https alone.
func serve(release string) string {
	return `case "$*" in *"--proto =https"*) ;; *) exit 9 ;; esac
while [ $# -gt 1 ]; do [ "$1" = --output ] && to=$2; shift; done
case $1 in
https://github.com/dopolicy/kubectl-dopolicy/releases/download/v1.2.3/*)
  cp "` + release + `/${1##*/}" "$to" 2>/dev/null ;;
*) exit 22 ;;
esac`
}

// TestInstall: nothing is unpacked that is not what was asked for.
func TestInstall(t *testing.T) {
	archive := packProgram(t)
	sum := sha256.Sum256(archive)
	digest := hex.EncodeToString(sum[:])
	other := strings.Repeat("0", 64)
	const linux, name = `case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac`, "kubectl-dopolicy_v1.2.3_linux_amd64.tar.gz"
	tests := []struct {
		name, version, sha256 string
		uname                 string
		checksums             string // of the release
		gh                    string // what it does
		want                  string // in what is said
		fails                 bool
	}{
		{name: "by checksum", sha256: digest, gh: "exit 1", want: "the program"},
		{name: "another checksum", sha256: other, want: "has the SHA-256 " + digest, fails: true},
		{name: "by attestation", checksums: digest + "  " + name + "\n", gh: `echo "gh $*"`,
			want: "--repo dopolicy/kubectl-dopolicy --cert-identity https://github.com/dopolicy/kubectl-dopolicy/" +
				".github/workflows/release.yaml@refs/tags/v1.2.3"},
		{name: "without attestation", checksums: digest + "  " + name + "\n", gh: "exit 1", want: "not attested",
			fails: true},
		{name: "not among the checksums", checksums: other + "  " + name + "\n", gh: "exit 0",
			want: "does not list", fails: true},
		{name: "of another file", checksums: digest + "  " + name + ".sig\n", gh: "exit 0",
			want: "does not list", fails: true},
		{name: "an upper-case checksum", sha256: strings.ToUpper(strings.Repeat("a", 64)), want: "64 digits", fails: true},
		{name: "the latest", version: "latest", sha256: digest, want: "want a release", fails: true},
		{name: "another folder", version: "v1.2.3/../../x", sha256: digest, want: "want a release", fails: true},
		{name: "not there", version: "v1.2.4", sha256: digest, want: "cannot download", fails: true},
		{name: "on Windows", uname: "echo MINGW64_NT-10.0", sha256: digest,
			want: "runs on Linux and macOS, not on MINGW64_NT-10.0", fails: true},
		{name: "on macOS", uname: `case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac`, sha256: digest,
			want: "cannot download kubectl-dopolicy_v1.2.3_darwin_arm64.tar.gz", fails: true},
		{name: "on another processor", uname: `case $1 in -s) echo Linux ;; *) echo riscv64 ;; esac`, sha256: digest,
			want: "no release for riscv64", fails: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			release, temp := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(release, name), archive, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(release, "checksums.txt"), []byte(test.checksums), 0o600); err != nil {
				t.Fatal(err)
			}
			programs := map[string]string{"uname": linux, "gh": test.gh, "curl": serve(release)}
			if test.uname != "" {
				programs["uname"] = test.uname
			}
			version := "v1.2.3"
			if test.version != "" {
				version = test.version
			}
			cmd := exec.Command("bash", filepath.Join(findRoot(t), "action/install.sh"))
			cmd.Env = append(environment(), "PATH="+writePrograms(t, programs)+string(filepath.ListSeparator)+os.Getenv("PATH"),
				"DOPOLICY_VERSION="+version, "DOPOLICY_SHA256="+test.sha256, "DOPOLICY_BIN="+temp+"/bin",
				"GITHUB_PATH="+temp+"/path", "TMPDIR="+temp)
			out, err := cmd.CombinedOutput()
			if (err != nil) != test.fails || !strings.Contains(string(out), test.want) {
				t.Errorf("%v: %s", err, out)
			}
			if _, err := os.Stat(temp + "/bin/kubectl-dopolicy"); (err != nil) != test.fails {
				t.Errorf("the program: %v", err)
			}
			if path, _ := os.ReadFile(temp + "/path"); !test.fails && string(path) != temp+"/bin\n" {
				t.Errorf("the PATH gets %q", path)
			}
		})
	}
}
