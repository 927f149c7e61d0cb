package load

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"io"
	"regexp"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// timeSearchBytes is within how many bytes of a snapshot its header says when the cluster was read.
const timeSearchBytes = 4096

// readAtField finds that in YAML and in JSON. It stands before everything that could hold the same
// words.
var readAtField = regexp.MustCompile(`(?m)^\s*"?readAt"?:\s*"?([0-9TZ:.+-]+)"?`)

// SnapshotTime returns when the cluster of a snapshot was read, by its header. It is zero if the
// header does not say so, or if the file is no snapshot. Only the beginning of the file is read.
func SnapshotTime(path string) (time.Time, error) {
	f, err := input.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, timeSearchBytes)
	if start, _ := in.Peek(2); model.IsGzip(start) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return time.Time{}, nil // reading it says what is wrong
		}
		in = bufio.NewReaderSize(z, timeSearchBytes)
		if input.IsTar(in) {
			t := tar.NewReader(in)
			if _, err := t.Next(); err != nil {
				return time.Time{}, nil
			}
			in = bufio.NewReaderSize(t, timeSearchBytes)
		}
	}
	head := make([]byte, timeSearchBytes)
	n, _ := io.ReadFull(in, head)
	if head = head[:n]; !input.IsSnapshot(head) {
		return time.Time{}, nil
	}
	found := readAtField.FindSubmatch(head)
	if found == nil {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, string(found[1]))
	if err != nil {
		return time.Time{}, nil
	}
	return at, nil
}
