package localfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

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
			return nil, err
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

// ReadLimited reads all of a file, which may not have more than so many bytes.
func ReadLimited(in io.Reader, name string, most int64) ([]byte, error) {
	var text bytes.Buffer
	if f, ok := in.(interface{ Stat() (os.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() { // a buffer that grows takes more
			text.Grow(int(min(info.Size(), most)) + bytes.MinRead)
		}
	}
	_, err := text.ReadFrom(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		err = input.ReadFailure(err)
	case int64(text.Len()) > most:
		err = &os.PathError{Op: "read", Path: name, Err: fmt.Errorf("larger than %d MiB", most>>20)}
	}
	return text.Bytes(), err
}
