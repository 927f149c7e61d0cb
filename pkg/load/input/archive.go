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
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxArchiveEntries is how many entries an archive may have.
const maxArchiveEntries = 100_000

// unpackFile returns the manifests in a compressed archive (.tgz), or the one manifest that is
// compressed itself. What they unpack to counts against the limit for all files.
func (r *Reader) unpackFile(ctx context.Context, s File, packed []byte) ([]document.Raw, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return r.addUnusableArchive(s, err)
	}
	most := int64(model.UnpackLimit(len(packed)))
	in := bufio.NewReader(&boundedReader{in: z, ctx: ctx, remaining: min(most, r.Remaining),
		err: cmp.Or(r.checkRemaining(most), fmt.Errorf("it unpacks to more than %d times its size", model.MaxUnpackFactor))})
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
	found, err := r.readArchive(s, tar.NewReader(in), most)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return r.addUnusableArchive(s, err)
	}
	r.addUnreadLinks(s, found)
	return found.pieces, nil
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

// archiveContent is what an archive holds.
type archiveContent struct {
	pieces []document.Raw
	read   map[string]bool // the files that they are of
	links  []archivedLink
}

// archivedLink is a link of an archive, and the file of the archive that it would lead to.
type archivedLink struct{ name, target string }

// readArchive returns what an archive holds. Its files count as found in a folder. Some entries
// claim to be larger than what is there for them: what they claim counts.
func (r *Reader) readArchive(s File, t *tar.Reader, most int64) (archiveContent, error) {
	out := archiveContent{read: map[string]bool{}}
	for n := 0; ; n++ {
		entry, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		case n == maxArchiveEntries:
			return out, fmt.Errorf("it has more than %d entries", maxArchiveEntries)
		case !IsManifest(entry.Name):
			continue
		case entry.Typeflag != tar.TypeReg:
			out.addLink(entry)
			continue
		case isSparse(entry):
			return out, errors.New("it has files with holes")
		}
		if most -= entry.Size; most < 0 {
			return out, fmt.Errorf("it unpacks to more than %d times its size", model.MaxUnpackFactor)
		}
		if err := r.checkRemaining(entry.Size); err != nil {
			return out, err
		}
		r.Remaining -= entry.Size
		text := make([]byte, entry.Size)
		if _, err := io.ReadFull(t, text); err != nil {
			return out, err
		}
		more, err := r.splitFile(File{Name: s.Name + "/" + entry.Name}, ToUTF8(text))
		if err != nil {
			return out, err
		}
		out.pieces, out.read[path.Clean(entry.Name)] = append(out.pieces, more...), true
	}
}

// addLink notes a link.
func (a *archiveContent) addLink(entry *tar.Header) {
	target := path.Clean(entry.Linkname)
	switch {
	case entry.Typeflag == tar.TypeSymlink && !path.IsAbs(target):
		target = path.Join(path.Dir(entry.Name), target)
	case entry.Typeflag != tar.TypeSymlink && entry.Typeflag != tar.TypeLink:
		return
	}
	a.links = append(a.links, archivedLink{entry.Name, target})
}

// addUnreadLinks notes the links of an archive to what is not read of it. Others add nothing: what
// they lead to is read by its own name.
func (r *Reader) addUnreadLinks(s File, found archiveContent) {
	for _, l := range found.links {
		if !found.read[l.target] {
			r.addLinkOut(s.Name+"/"+l.name, "what is read of "+s.Name)
		}
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
