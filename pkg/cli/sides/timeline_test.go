package sides

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMoments(t *testing.T) {
	dir := t.TempDir()
	const header = "apiVersion: dopolicy.dev/v1alpha1\nkind: Snapshot\ncluster: prod\nreadAt: \"2026-01-02T03:04:05Z\"\nkinds: []\ngaps: []\nproblems: []\n"
	packed := func(text string) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		w := tar.NewWriter(z)
		_ = w.WriteHeader(&tar.Header{Name: "snapshot.yaml", Mode: 0o644, Size: int64(len(text))})
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		_ = z.Close()
		return out.Bytes()
	}
	changed := time.Date(2025, 5, 6, 7, 8, 9, 0, time.UTC)
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"2020-01-01.yaml": {[]byte(header), "2026-01-02T03:04:05Z"}, // the header comes first
		"x.tgz":           {packed(header), "2026-01-02T03:04:05Z"},
		"x.json": {[]byte(`{"apiVersion": "dopolicy.dev/v1alpha1", "kind": "Snapshot", "cluster": "c",` +
			"\n" + `  "readAt": "2026-01-02T03:04:05+01:00"}`), "2026-01-02T02:04:05Z"},
		"prod-2026-01-31.yaml": {[]byte("a: b"), "2026-01-31T00:00:00Z"},
		"20260131T1200.tgz":    {[]byte("a: b"), "2026-01-31T12:00:00Z"},
		// not a snapshot
		"eu1-2026-01-31T12-00-05Z.yaml": {[]byte("readAt: 2020-01-01T00:00:00Z"), "2026-01-31T12:00:05Z"},
		"99999999.yaml":                 {[]byte("a: b"), "2025-05-06T07:08:09Z"}, // no day
		"prod.yaml":                     {[]byte("a: b"), "2025-05-06T07:08:09Z"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, changed, changed); err != nil {
			t.Fatal(err)
		}
		at, err := readSnapshotTime(file)
		if got := (Snapshot{at: at}).FormatTime(); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}
