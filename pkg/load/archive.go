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
	var pieces []piece
	for first := true; ; first = false {
		entry, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return pieces, nil
		case err != nil && first: // no archive
			return r.documents(s, text)
		case err != nil:
			return fail(err)
		}
		if entry.Typeflag != tar.TypeReg || !isManifest(entry.Name) {
			continue
		}
		inner, err := io.ReadAll(t)
		if err != nil {
			return fail(err)
		}
		more, err := r.documents(source{name: s.name + "/" + entry.Name, named: s.named}, inner)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, more...)
	}
}
