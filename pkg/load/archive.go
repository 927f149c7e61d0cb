package load

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// isGzip reports whether text is compressed.
func isGzip(text []byte) bool { return bytes.HasPrefix(text, []byte{0x1f, 0x8b}) }

// What an archive may hold. Manifests and dumps of clusters pack to between a tenth and a fiftieth of their size.
const (
	mostUnpacked = 200      // times its own size,
	anyUnpacked  = 16 << 20 // if it unpacks to more than this
	mostEntries  = 100_000
)

// unpack is the manifests in a compressed archive (.tgz), or the one manifest that is compressed itself. What they unpack to counts against the
// limit for all files.
func (r *reader) unpack(ctx context.Context, s source, packed []byte) ([]piece, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return r.unusable(s, err)
	}
	most := max(anyUnpacked, mostUnpacked*int64(len(packed)))
	in := bufio.NewReader(&meter{in: z, ctx: ctx, left: min(most, r.left), err: cmp.Or(r.over(most), fmt.Errorf("it unpacks to more than %d times its size", mostUnpacked))})
	if !isTar(in) {
		text, err := slurp(ctx, in, 0)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return r.unusable(s, err)
		}
		r.left -= int64(len(text))
		return r.documents(s, utf8Text(text))
	}
	files, err := r.entries(tar.NewReader(in), most)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return r.unusable(s, err)
	}
	return r.unpacked(s, files)
}

// isTar reports whether an archive of files begins here.
func isTar(in *bufio.Reader) bool {
	head, _ := in.Peek(512)
	_, err := tar.NewReader(bytes.NewReader(head)).Next()
	return !errors.Is(err, tar.ErrHeader)
}

// errOverTotal is the error of what is more than may still be read.
var errOverTotal = errors.New("more than may be read")

// over is errOverTotal if so many bytes are more than may still be read.
func (r *reader) over(bytes int64) error {
	if bytes > r.left {
		return errOverTotal
	}
	return nil
}

// unusable reports an archive that is not used, and why.
func (r *reader) unusable(s source, err error) ([]piece, error) {
	if errors.Is(err, errOverTotal) {
		r.refuse(s)
	} else {
		r.broken(s, "the archive cannot be unpacked: "+err.Error(), "")
	}
	return nil, nil
}

// entries are the manifests of an archive. Some entries claim to be larger than what is there for them: what they claim counts.
func (r *reader) entries(t *tar.Reader, most int64) ([]packedFile, error) {
	var files []packedFile
	for n := 0; ; n++ {
		entry, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, err
		case n == mostEntries:
			return nil, fmt.Errorf("it has more than %d entries", mostEntries)
		case entry.Typeflag != tar.TypeReg || !isManifest(entry.Name):
			continue
		case sparse(entry):
			return nil, errors.New("it has files with holes")
		}
		if most -= entry.Size; most < 0 {
			return nil, fmt.Errorf("it unpacks to more than %d times its size", mostUnpacked)
		}
		if err := r.over(entry.Size); err != nil {
			return nil, err
		}
		r.left -= entry.Size
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		files = append(files, packedFile{entry.Name, text})
	}
}

// sparse reports whether an entry has holes, which take no room in the archive.
func sparse(entry *tar.Header) bool {
	for key := range entry.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// meter is a reader that ends with an error after so many bytes, or with its context.
type meter struct {
	in   io.Reader
	ctx  context.Context
	left int64
	err  error
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.left < 0 {
		return 0, m.err
	}
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.in.Read(p)
	m.left -= int64(n)
	return n, err
}

// packedFile is a file of an archive.
type packedFile struct {
	name string
	text []byte
}

// unpacked is the documents of an archive that was read to its end.
func (r *reader) unpacked(s source, files []packedFile) ([]piece, error) {
	var pieces []piece
	for _, f := range files {
		more, err := r.documents(source{name: s.name + "/" + f.name, named: s.named}, utf8Text(f.text))
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, more...)
	}
	return pieces, nil
}
