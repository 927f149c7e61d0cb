//go:build linux

package hostiletest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
)

// memoryAttacks hold much that is no object, or one object that is much.
var memoryAttacks = []folderAttack{
	{attack{name: "an archive of comments", args: "effective -A -f x.tgz --max-input 1Gi", exit: 3,
		want: "no document could be read"}, commentArchive(31, 32<<20, "")},
	{attack{name: "an archive of comments around objects", args: "effective -A -f x.tgz", exit: 0, want: "1 object was read"},
		commentArchive(7, 32<<20, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n")},
	{attack{name: "large objects, as many as may be read", args: "effective -A -f m", exit: 0, want: "200 objects were read"},
		largeObjects(200, 1<<20)},
	{attack{name: "large objects, read with -R", args: "effective -A -R -f m", exit: 0, want: "64 objects were read"},
		largeObjects(64, 1<<20)},
}

// commentArchive makes an archive of so many files of comments, with something in the middle.
func commentArchive(n, size int, middle string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		var half bytes.Buffer
		for i := 0; half.Len() < size/2; i++ {
			fmt.Fprintf(&half, "# %s %d\n", strings.Repeat("comment ", 100), i)
		}
		text := append(append(bytes.Clone(half.Bytes()), middle...), half.Bytes()...)
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		archive := tar.NewWriter(z)
		for i := range n {
			if err := archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("m%d.yaml", i), Mode: 0o644,
				Size: int64(len(text))}); err != nil {
				t.Fatal(err)
			}
			_, _ = archive.Write(text)
		}
		if archive.Close() != nil || z.Close() != nil || os.WriteFile("x.tgz", out.Bytes(), 0o600) != nil {
			t.Fatal("packing")
		}
	}
}

// largeObjects makes so many ConfigMaps of that size.
func largeObjects(n, size int) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := range n {
			var text strings.Builder
			fmt.Fprintf(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata:\n  a: |\n", i)
			for text.Len() < size {
				fmt.Fprintf(&text, "    line %d of object %d\n", text.Len(), i)
			}
			files(map[string]string{fmt.Sprintf("m/%d.yaml", i): text.String()})(t)
		}
	}
}
