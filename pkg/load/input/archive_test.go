package input

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestArchiveBeyondLimit: what the entries of an archive say they hold counts, before it is read.
func TestArchiveBeyondLimit(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	text := bytes.Repeat([]byte("# comment\n"), 200)
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if archive.Close() != nil || z.Close() != nil {
		t.Fatal("packing")
	}
	r := &Reader{Remaining: 3_000}
	if _, err := r.unpackFile(context.Background(), File{Name: "x.tgz"}, packed.Bytes()); err != nil ||
		len(r.Problems) != 1 || r.Problems[0].Code != model.LimitExceeded {
		t.Errorf("%v, %v", r.Problems, err)
	}
}

// TestArchivedLinks: links of an archive lead to what is read of it by its own name, or are noted.
func TestArchivedLinks(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	for _, h := range []tar.Header{
		{Name: "m/a.yaml"}, {Name: "m/in.yaml", Typeflag: tar.TypeSymlink, Linkname: "a.yaml"},
		{Name: "m/same.yaml", Typeflag: tar.TypeLink, Linkname: "m/a.yaml"},
		{Name: "m/out.yaml", Typeflag: tar.TypeSymlink, Linkname: "../../a.yaml"},
		{Name: "m/absolute.yaml", Typeflag: tar.TypeSymlink, Linkname: "/a.yaml"},
		{Name: "m/text.yaml", Typeflag: tar.TypeLink, Linkname: "m/a.txt"}, {Name: "x", Typeflag: tar.TypeSymlink, Linkname: "/"},
	} {
		if err := archive.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if archive.Close() != nil || z.Close() != nil {
		t.Fatal("packing")
	}
	r := &Reader{Remaining: 1 << 20}
	if _, err := r.unpackFile(context.Background(), File{Name: "x.tgz"}, packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	var noted []string
	for _, p := range r.Problems {
		noted = append(noted, p.Origin.File)
	}
	want := []string{"x.tgz/m/out.yaml", "x.tgz/m/absolute.yaml", "x.tgz/m/text.yaml"}
	if !slices.Equal(noted, want) || len(r.Omissions) != len(want) {
		t.Errorf("noted %q, want %q; left out %v", noted, want, r.Omissions)
	}
}

// FuzzArchive: whatever an archive holds, no more is read of it than may be.
func FuzzArchive(f *testing.F) {
	f.Add([]byte("a.yaml"))
	f.Add(append(make([]byte, 512), "a: b\n"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(data)
		_ = z.Close()
		for _, text := range [][]byte{packed.Bytes(), append([]byte("\x1f\x8b"), data...)} {
			const most = 1 << 16
			r := &Reader{Remaining: most}
			pieces, err := r.unpackFile(context.Background(), File{Name: "x.tgz", Named: true}, text)
			size := 0
			for _, p := range pieces {
				size += len(p.Text)
			}
			if size > most || err != nil && len(pieces) > 0 {
				t.Errorf("%d bytes, %v", size, err)
			}
		}
	})
}
