package input

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
	"path"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// IsGzip reports whether text is compressed.
func IsGzip(text []byte) bool { return bytes.HasPrefix(text, []byte{0x1f, 0x8b}) }

// What an archive may hold. Manifests and dumps of clusters pack to between a tenth and a fiftieth
// of their size.
const (
	maxUnpackFactor   = 200      // times its own size,
	minUnpackLimit    = 16 << 20 // if it unpacks to more than this
	maxArchiveEntries = 100_000
)

// unpackFile returns the manifests in a compressed archive (.tgz), or the one manifest that is
// compressed itself. What they unpack to counts against the limit for all files.
func (r *Reader) unpackFile(ctx context.Context, s File, packed []byte) ([]document.Raw, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return r.addUnusableArchive(s, err)
	}
	most := max(minUnpackLimit, maxUnpackFactor*int64(len(packed)))
	in := bufio.NewReader(&boundedReader{in: z, ctx: ctx, remaining: min(most, r.Remaining),
		err: cmp.Or(r.checkRemaining(most), fmt.Errorf("it unpacks to more than %d times its size", maxUnpackFactor))})
	if !IsTar(in) {
		text, err := readAllOf(ctx, in, 0)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return r.addUnusableArchive(s, err)
		}
		r.Remaining -= int64(len(text))
		return r.splitFile(s, ToUTF8(text))
	}
	files, links, err := r.readArchive(tar.NewReader(in), most)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return r.addUnusableArchive(s, err)
	}
	r.addUnreadLinks(s, files, links)
	return r.splitArchive(s, files)
}

// IsTar reports whether an archive of files begins here.
func IsTar(in *bufio.Reader) bool {
	head, _ := in.Peek(512)
	_, err := tar.NewReader(bytes.NewReader(head)).Next()
	return !errors.Is(err, tar.ErrHeader)
}

// errOverLimit is the error of what is more than may still be read.
var errOverLimit = errors.New("more than may be read")

// checkRemaining returns errOverLimit if so many bytes are more than may still be read.
func (r *Reader) checkRemaining(bytes int64) error {
	if bytes > r.Remaining {
		return errOverLimit
	}
	return nil
}

// addUnusableArchive reports an archive that is not used, and why.
func (r *Reader) addUnusableArchive(s File, err error) ([]document.Raw, error) {
	if errors.Is(err, errOverLimit) {
		r.addTooLarge(s)
	} else {
		r.addBrokenFile(s, "the archive cannot be unpacked: "+err.Error(), "")
	}
	return nil, nil
}

// readArchive returns the manifests of an archive. Some entries claim to be larger than what is
// there for them: what they claim counts.
func (r *Reader) readArchive(t *tar.Reader, most int64) (files []archivedFile, links []archivedLink, err error) {
	for n := 0; ; n++ {
		entry, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, links, nil
		case err != nil:
			return nil, nil, err
		case n == maxArchiveEntries:
			return nil, nil, fmt.Errorf("it has more than %d entries", maxArchiveEntries)
		case IsManifest(entry.Name) && entry.Typeflag == tar.TypeSymlink:
			target := entry.Linkname
			if !path.IsAbs(target) {
				target = path.Join(path.Dir(entry.Name), target)
			}
			links = append(links, archivedLink{entry.Name, target})
			continue
		case IsManifest(entry.Name) && entry.Typeflag == tar.TypeLink:
			links = append(links, archivedLink{entry.Name, path.Clean(entry.Linkname)})
			continue
		case entry.Typeflag != tar.TypeReg || !IsManifest(entry.Name):
			continue
		case isSparse(entry):
			return nil, nil, errors.New("it has files with holes")
		}
		if most -= entry.Size; most < 0 {
			return nil, nil, fmt.Errorf("it unpacks to more than %d times its size", maxUnpackFactor)
		}
		if err := r.checkRemaining(entry.Size); err != nil {
			return nil, nil, err
		}
		r.Remaining -= entry.Size
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, archivedFile{entry.Name, text})
	}
}

// isSparse reports whether an entry has holes, which take no room in the archive.
func isSparse(entry *tar.Header) bool {
	for key := range entry.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// boundedReader is a reader that ends with an error after so many bytes, or with its context.
type boundedReader struct {
	in        io.Reader
	ctx       context.Context
	remaining int64
	err       error
}

// Read implements io.Reader.
func (m *boundedReader) Read(p []byte) (int, error) {
	if m.remaining < 0 {
		return 0, m.err
	}
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.in.Read(p)
	m.remaining -= int64(n)
	return n, err
}

// archivedFile is a file of an archive.
type archivedFile struct {
	name string
	text []byte
}

// archivedLink is a link of an archive, and the file of the archive that it would lead to.
type archivedLink struct{ name, target string }

// addUnreadLinks notes the links of an archive to what is not read of it. Others add nothing: what
// they lead to is read by its own name.
func (r *Reader) addUnreadLinks(s File, files []archivedFile, links []archivedLink) {
	read := map[string]bool{}
	for _, f := range files {
		read[path.Clean(f.name)] = true
	}
	for _, l := range links {
		if !read[l.target] {
			r.addLinkOut(s.Name+"/"+l.name, "what is read of "+s.Name)
		}
	}
}

// splitArchive returns the documents of an archive that was read to its end. Its files count as found
// in a folder.
func (r *Reader) splitArchive(s File, files []archivedFile) ([]document.Raw, error) {
	var pieces []document.Raw
	for _, f := range files {
		more, err := r.splitFile(File{Name: s.Name + "/" + f.name}, ToUTF8(f.text))
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, more...)
	}
	return pieces, nil
}
