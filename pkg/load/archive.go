package load

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
)

// isGzip reports whether text is compressed.
func isGzip(text []byte) bool { return bytes.HasPrefix(text, []byte{0x1f, 0x8b}) }

// unpack is the manifests in a compressed archive (.tgz), or the one manifest that is compressed itself. What they unpack to counts against the
// limit for all files.
func (r *reader) unpack(ctx context.Context, s source, packed []byte) ([]piece, error) {
	fail := func(err error) ([]piece, error) {
		r.broken(s, "the archive cannot be unpacked: "+err.Error(), "")
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fail(err)
	}
	text, err := slurp(ctx, io.LimitReader(z, r.left+1), 0)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return fail(err)
	case int64(len(text)) > r.left:
		r.refuse(s)
		return nil, nil
	}
	r.left -= int64(len(text))
	t := tar.NewReader(bytes.NewReader(text))
	var files []packedFile
	for first := true; ; first = false {
		entry, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return r.unpacked(s, files)
		case err != nil && first: // no archive
			return r.documents(s, utf8Text(text))
		case err != nil:
			return fail(err)
		}
		if entry.Typeflag != tar.TypeReg || !isManifest(entry.Name) {
			continue
		}
		if entry.Size > r.left { // some entries claim to be larger than what is there for them
			r.refuse(s)
			return nil, nil
		}
		r.left -= entry.Size
		inner, err := io.ReadAll(t)
		if err != nil {
			return fail(err)
		}
		files = append(files, packedFile{entry.Name, inner})
	}
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
