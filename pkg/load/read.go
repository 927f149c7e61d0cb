package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"unicode/utf16"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// reader reads files until the limit for all of them is used up.
type reader struct {
	stdin    io.Reader
	left     int64
	problems []model.Problem
	header   *model.Header // of the snapshot among the sources, if one is
}

// read is the documents of all sources, in order.
func (r *reader) read(ctx context.Context, sources []source) ([]piece, error) {
	var pieces []piece
	for _, s := range sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := r.open(ctx, s)
		if err != nil {
			return nil, err
		}
		var more []piece
		if isGzip(text) {
			more, err = r.unpack(ctx, s, text)
		} else {
			more, err = r.documents(s, utf8Text(text))
		}
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, more...)
	}
	return pieces, nil
}

// documents are the documents of one file.
func (r *reader) documents(s source, text []byte) ([]piece, error) {
	if !isSnapshot(text) {
		return splitLarge(s, text), nil
	}
	if r.header != nil {
		return nil, &Error{What: s.name, Err: errors.New("a second snapshot; an answer is about one cluster"), Hint: "name one of them"}
	}
	header, pieces, err := splitSnapshot(s, text)
	if err != nil {
		r.broken(s, "the snapshot cannot be read: "+err.Error(), "take it anew with: kubectl dopolicy snapshot -o FILE")
		return nil, nil
	}
	r.header = header
	return pieces, nil
}

// broken reports a file that cannot be read as what it is. The others are read all the same.
func (r *reader) broken(s source, what, hint string) {
	r.problems = append(r.problems, model.Problem{Severity: model.Error, Code: model.InvalidYAML, Origin: &model.Origin{File: s.name, Line: 1},
		Message: "not used: " + what, Hint: hint})
}

// open is the content of one source, or nothing if that is more than may still be read.
func (r *reader) open(ctx context.Context, s source) ([]byte, error) {
	if s.text != nil {
		if s.text.Size > r.left {
			r.refuse(s)
			return nil, nil
		}
		r.left -= s.text.Size
		return s.text.Content, nil
	}
	in, size := r.stdin, int64(0)
	if s.path != "" {
		f, err := os.Open(s.path)
		if err != nil {
			return nil, pathError(s.name, err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
		in = f
	}
	if in == nil {
		return nil, &Error{What: s.name, Err: errors.New("there is no standard input")}
	}
	if size > r.left {
		r.refuse(s)
		return nil, nil
	}
	text, err := slurp(ctx, io.LimitReader(in, max(r.left, r.left+1)), size)
	if errors.Is(err, errBinary) {
		r.broken(s, errBinary.Error(), "")
		return nil, nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, pathError(s.name, err)
	case int64(len(text)) > r.left:
		r.refuse(s)
		return nil, nil
	}
	r.left -= int64(len(text))
	return text, nil
}

func (r *reader) refuse(s source) {
	r.problems = append(r.problems, model.Problem{
		Severity: model.Error, Code: model.LimitExceeded, Origin: &model.Origin{File: s.name, Line: 1},
		Message: "not read: with this file the input is larger than the limit for all files together (--max-input)",
		Hint:    "read fewer files at once, or raise --max-input",
	})
}

// errBinary is the error of a stream that is no text: some devices never end.
var errBinary = errors.New("it is not text")

// slurp reads all of in, of the given size if that is known. Pipes and terminals may never end, so it does not wait longer than ctx lasts; a read
// that is given up then stays behind until its other end closes.
func slurp(ctx context.Context, in io.Reader, size int64) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		if size == 0 {
			text, err := slurpText(in)
			done <- result{text, err}
			return
		}
		var b bytes.Buffer
		b.Grow(int(size) + bytes.MinRead)
		_, err := b.ReadFrom(in)
		done <- result{b.Bytes(), err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// slurpText reads a stream of unknown length, in parts, so that nothing is copied until it has ended. It gives up on what is no text.
func slurpText(in io.Reader) ([]byte, error) {
	var parts [][]byte
	for size := bytes.MinRead; ; size = min(2*size, 1<<20) {
		part := make([]byte, size)
		n, err := io.ReadFull(in, part)
		parts = append(parts, part[:n])
		if first := parts[0]; bytes.IndexByte(part[:n], 0) >= 0 && !isGzip(first) && !isUTF16(first) {
			return nil, errBinary
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return bytes.Join(parts, nil), nil
		case err != nil:
			return nil, err
		}
	}
}

// isUTF16 reports whether text begins with the mark of UTF-16.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
}

// utf8Text is text without a byte order mark. The mark of UTF-16, which some shells write into redirected output, has the text
// converted.
func utf8Text(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return text[3:]
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, order.Uint16(text[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}
