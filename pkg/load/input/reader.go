package input

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"unicode/utf16"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Reader reads files until the limit for all of them is used up.
type Reader struct {
	stdin          io.Reader
	Remaining      int64
	Problems       []model.Problem
	SnapshotHeader *model.Header // of the snapshot among the sources, if one is

	Omissions []model.Omission // what makes objects and was not read or rendered
	// objects that have others deployed, by Follower: what they deploy was read, or is among the
	// omissions
	Followed map[Follower]bool
}

// Follower is an object that has other objects deployed, such as a HelmRelease.
type Follower struct{ Kind, Namespace, Name string } // the kind with its group in front: GROUP/KIND

// NewReader returns a reader of files, and of standard input if it is not nil.
func NewReader(stdin io.Reader, limits document.Limits) *Reader {
	return &Reader{stdin: stdin, Remaining: limits.Total, Followed: map[Follower]bool{}}
}

// AddOmission notes something that makes objects and was not read or rendered.
func (r *Reader) AddOmission(by, why, namespace string) {
	r.Omissions = append(r.Omissions, model.Omission{By: by, Why: why, Namespace: namespace})
}

// batchBytes is from how many bytes of files on their documents are handed over.
const batchBytes = 32 << 20

// ReadBatches hands over the documents of all files, in order, those of several files at a time. What
// is handed over is kept no longer.
func (r *Reader) ReadBatches(ctx context.Context, sources []File, use func([]document.Raw) error) error {
	var pieces []document.Raw
	size := 0
	for i, s := range sources {
		more, err := r.readFile(ctx, s)
		if err != nil {
			return err
		}
		for _, p := range more {
			size += len(p.Text)
		}
		if pieces = append(pieces, more...); size < batchBytes && i+1 < len(sources) {
			continue
		}
		if err := use(pieces); err != nil {
			return err
		}
		pieces, size = nil, 0
	}
	return nil
}

// ReadFiles returns the documents of all files, in order.
func (r *Reader) ReadFiles(ctx context.Context, sources []File) ([]document.Raw, error) {
	var pieces []document.Raw
	for _, s := range sources {
		more, err := r.readFile(ctx, s)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, more...)
	}
	return pieces, nil
}

// readFile returns the documents of one file.
func (r *Reader) readFile(ctx context.Context, s File) ([]document.Raw, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := r.ReadContent(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case model.IsGzip(text):
		return r.unpackFile(ctx, s, text)
	}
	return r.splitFile(s, ToUTF8(text))
}

// withoutRest returns documents that keep no more of the text that they were cut out of than what
// they need, if that is little.
func withoutRest(pieces []document.Raw, text []byte) []document.Raw {
	needed := 0
	for _, p := range pieces {
		needed += len(p.Text)
	}
	if needed < len(text)/2 {
		for i := range pieces {
			pieces[i].Text = bytes.Clone(pieces[i].Text)
		}
	}
	return pieces
}

// splitFile returns the documents of one file, which may be a snapshot.
func (r *Reader) splitFile(s File, text []byte) ([]document.Raw, error) {
	if !IsSnapshot(text) {
		return withoutRest(document.SplitBatched(s.documentFile(), text), text), nil
	}
	if r.SnapshotHeader != nil {
		return nil, &document.Error{What: s.Name, Err: errors.New("a second snapshot; an answer is about one cluster"),
			Hint: "name one of them"}
	}
	header, pieces, err := splitSnapshot(s.documentFile(), text)
	if err != nil {
		r.addBrokenFile(s, "the snapshot cannot be read: "+err.Error(),
			"take it anew with: kubectl dopolicy snapshot -o FILE")
		return nil, nil
	}
	r.SnapshotHeader = header
	return pieces, nil
}

// addBrokenFile reports a file that cannot be read as what it is. The others are read all the same.
func (r *Reader) addBrokenFile(s File, what, hint string) {
	r.Problems = append(r.Problems, model.Problem{Severity: model.Error, Code: model.InvalidYAML,
		Origin:  &model.Origin{File: s.Name, Line: 1},
		Message: "not used: " + what, Hint: hint})
	r.AddOmission(s.Name, "cannot be read", "")
}

// ReadContent returns the content of one file, or nothing if that is more than may still be read.
func (r *Reader) ReadContent(ctx context.Context, s File) ([]byte, error) {
	if s.LeavesAt != "" {
		r.addLinkOut(s.Name, s.LeavesAt)
		return nil, nil
	}
	if s.Content != nil {
		if s.Content.Size > r.Remaining {
			r.addTooLarge(s)
			return nil, nil
		}
		r.Remaining -= s.Content.Size
		text := s.Content.Content
		s.Content.Content = nil // it is read once, and wiped then
		return text, nil
	}
	in, size := r.stdin, int64(0)
	if s.Path != "" {
		f, err := openWithin(ctx, s.Path)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && !s.Named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
			r.addUnreadable(s, err)
			return nil, nil
		case err != nil:
			return nil, document.PathError(s.Name, err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
		in = f
	}
	if in == nil {
		return nil, &document.Error{What: s.Name, Err: errors.New("there is no standard input")}
	}
	if size > r.Remaining {
		r.addTooLarge(s)
		return nil, nil
	}
	text, err := readAllOf(ctx, io.LimitReader(in, max(r.Remaining, r.Remaining+1)), size)
	if errors.Is(err, errNotText) {
		r.addBrokenFile(s, errNotText.Error(), "")
		return nil, nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, document.PathError(s.Name, ReadFailure(err))
	case int64(len(text)) > r.Remaining:
		r.addTooLarge(s)
		return nil, nil
	}
	r.Remaining -= int64(len(text))
	return text, nil
}

// addUnreadable reports a file of a folder that the system does not let us read. The others are read
// all the same. A link that leads nowhere stands for nothing that could be applied from here.
func (r *Reader) addUnreadable(s File, err error) {
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Origin: &model.Origin{File: s.Name},
		Message: "not read: " + document.CauseOf(err).Error(), Hint: "check who may read it"}
	if errors.Is(err, fs.ErrNotExist) {
		p.Severity, p.Message, p.Hint = model.Info, "not read: the link leads to nothing", ""
	}
	r.Problems = append(r.Problems, p)
	r.AddOmission(s.Name, "cannot be read", "")
}

// addLinkOut reports a file that is a link out of where it was found.
func (r *Reader) addLinkOut(name, from string) {
	r.Problems = append(r.Problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Origin: &model.Origin{File: name, Line: 1}, Message: "not read: it is a link that leads out of " + from,
		Hint: "name what it leads to with -f if it is part of the input"})
	r.AddOmission(name, "is a link that leads out of "+from, "")
}

func (r *Reader) addTooLarge(s File) {
	r.Problems = append(r.Problems, model.Problem{
		Severity: model.Error, Code: model.LimitExceeded, Origin: &model.Origin{File: s.Name, Line: 1},
		Message: "not read: with this file the input is larger than the limit for all files together (--max-input)",
		Hint:    "read fewer files at once, or raise --max-input",
	})
	r.AddOmission(s.Name, "is not read, as it is too large", "")
}

// errNotText is the error of a stream that is no text: some devices never end.
var errNotText = errors.New("it is not text")

// readAllOf reads all of in, which has the given size if that is known. Pipes and terminals may
// never end, so it waits no longer than ctx lasts; a read that is given up then stays behind until
// its other end closes.
func readAllOf(ctx context.Context, in io.Reader, size int64) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		if size == 0 {
			text, err := readStream(in)
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

// readStream reads a stream of unknown length in parts, so that nothing is copied until it has
// ended. It gives up on what is not text.
func readStream(in io.Reader) ([]byte, error) {
	var parts [][]byte
	for size := bytes.MinRead; ; size = min(2*size, 1<<20) {
		part := make([]byte, size)
		n, err := io.ReadFull(in, part)
		parts = append(parts, part[:n])
		if first := parts[0]; bytes.IndexByte(part[:n], 0) >= 0 && !model.IsGzip(first) && !isUTF16(first) {
			return nil, errNotText
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

// ToUTF8 returns text without a byte order mark. Text with the mark of UTF-16, which some shells
// write into redirected output, is converted.
func ToUTF8(text []byte) []byte {
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
