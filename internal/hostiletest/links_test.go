//go:build linux

package hostiletest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"testing"
)

const (
	linkedRequirements = "apiVersion: dopolicy.dev/v1alpha1\nkind: Requirements\nrequirements: [{name: planted, expression: 'false', message: m}]\n"
	linkedTest         = "apiVersion: dopolicy.dev/v1alpha1\nkind: RequirementTest\nrequirements: [r.yaml]\ntests: [{name: x, files: [m.yaml]}]\n"
)

// linkAttacks read files beside the input: by links, or because files of the input name them. Each
// folder that could be named is a git working tree, and what is planted is beside it.
var linkAttacks = []folderAttack{
	{attack{name: "a link out of a folder", args: "effective -A -f repo", want: "it is a link that leads out of repo"},
		files(map[string]string{"repo/a.yaml": route, "repo/x.yaml": "-> ../secret.yaml", "secret.yaml": route})},
	{attack{name: "a link out of a folder that is read with -R", args: "effective -A -R -f repo",
		want: "it is a link that leads out of repo"},
		files(map[string]string{"repo/a.yaml": route, "repo/b/x.yaml": "-> ../../secret.yaml", "secret.yaml": route})},
	{attack{name: "a link to a file of the system that never ends", args: "effective -A -f repo",
		want: "it is a link that leads out of repo"},
		files(map[string]string{"repo/a.yaml": route, "repo/x.yaml": "-> /proc/kmsg"})},
	{attack{name: "a link to a device", args: "effective -A -f repo", want: "it is a link that leads out of repo"},
		files(map[string]string{"repo/a.yaml": route, "repo/x.yaml": "-> /dev/zero"})},
	{attack{name: "a link in an archive", args: "effective -A -f x.tgz", want: "it is a link that leads out of what is read"},
		archivedLink},
	{attack{name: "a link out of a folder of schemas", args: "effective -A -f a.yaml --crds schemas",
		want: "it is a link that leads out of schemas"},
		files(map[string]string{"a.yaml": route, "schemas/example.com/thing_v1.json": "-> ../../secret.json",
			"secret.json": "{}"})},
	{attack{name: "a config that names a file elsewhere", args: "check -f a.yaml --config repo/c.yaml", exit: 3,
		want: "only the command line can name files elsewhere"},
		files(map[string]string{"a.yaml": route, "repo/.git/HEAD": "", "repo/c.yaml": "requirements: [../r.yaml]\n",
			"r.yaml": linkedRequirements})},
	{attack{name: "a config that is found and leads elsewhere", args: "check -f a.yaml", exit: 3,
		want: "only the command line can name files elsewhere"},
		files(map[string]string{"a.yaml": route, ".dopolicy.yaml": "-> /proc/self/environ"})},
	{attack{name: "a config that names a source elsewhere", args: "effective -R -f m", exit: 3,
		want: "only the command line can name files elsewhere"},
		files(map[string]string{"m/a.yaml": route, ".dopolicy.yaml": "sources: {GitRepository/a/b: /etc}\n"})},
	{attack{name: "a test that names a folder elsewhere", args: "check test repo/t.yaml", exit: 1,
		want: "only the command line can name files elsewhere"},
		files(map[string]string{"repo/.git/HEAD": "", "repo/t.yaml": linkedTest, "repo/r.yaml": linkedRequirements,
			"repo/m.yaml": "-> ../secret", "secret/a.yaml": route})},
	{attack{name: "a test that names requirements elsewhere", args: "check test repo/t.yaml", exit: 3,
		want: "only the command line can name files elsewhere"},
		files(map[string]string{"repo/.git/HEAD": "", "repo/t.yaml": linkedTest, "repo/r.yaml": "-> ../r.yaml",
			"r.yaml": linkedRequirements})},
	{attack{name: "a folder of snapshots with a device", args: "history --snapshots days -o json httproute/r", exit: 3,
		want: "not a regular file"},
		files(map[string]string{"days/a.yaml": route, "days/x.yaml": "-> /dev/zero"})},
}

// archivedLink writes an archive with a manifest and a link.
func archivedLink(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	archive := tar.NewWriter(z)
	if err := archive.WriteHeader(&tar.Header{Name: "a.yaml", Mode: 0o644, Size: int64(len(route))}); err != nil {
		t.Fatal(err)
	}
	_, _ = archive.Write([]byte(route))
	if err := archive.WriteHeader(&tar.Header{Name: "x.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}); err != nil {
		t.Fatal(err)
	}
	if archive.Close() != nil || z.Close() != nil {
		t.Fatal("packing")
	}
	if err := os.WriteFile("x.tgz", out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
