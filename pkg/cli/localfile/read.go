package localfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
)

// maxSize is how many bytes a file may have that people write by hand: requirements, tests,
// configs, descriptors, templates.
const maxSize = 16 << 20

var errNotRegular = errors.New("not a regular file")

// Read reads a file that people write. A file that the command line names may be a pipe, as of <(…);
// one that another file names, or that is found, has to be a regular file in the tree that it is
// found in.
func Read(name string, byHand bool) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !byHand {
		if err := checkFound(name); err != nil {
			return nil, input.ReadFailure(err)
		}
		if !info.Mode().IsRegular() {
			return nil, &os.PathError{Op: "read", Path: name, Err: errNotRegular}
		}
	}
	f, err := input.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadLimited(f, name, maxSize)
}

// ReadLimited reads all of a file, which may not have more than so many bytes. It reads pieces, because
// a buffer that grows takes several times as much as is in it.
func ReadLimited(in io.Reader, name string, most int64) ([]byte, error) {
	var pieces [][]byte
	in = io.LimitReader(in, most+1)
	for size := int64(0); ; {
		piece := make([]byte, min(max(size/4, 64<<10), 4<<20))
		n, err := io.ReadFull(in, piece)
		if size += int64(n); size > most {
			return nil, &os.PathError{Op: "read", Path: name, Err: fmt.Errorf("larger than %d MiB", most>>20)}
		}
		pieces = append(pieces, piece[:n])
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return slices.Concat(pieces...), nil
		case err != nil:
			return nil, input.ReadFailure(err)
		}
	}
}
