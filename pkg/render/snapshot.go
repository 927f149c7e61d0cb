package render

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// SnapshotForm is how a snapshot is written.
type SnapshotForm string

// The forms. An archive holds the YAML.
const (
	SnapshotYAML    SnapshotForm = "yaml"
	SnapshotJSON    SnapshotForm = "json"
	SnapshotArchive SnapshotForm = "tgz"
)

// WriteSnapshot writes a snapshot of a cluster so that reading it gives the same answers: a header,
// then the objects with the given contents.
func WriteSnapshot(w io.Writer, form SnapshotForm, header *model.Header, objects []any) error {
	switch form {
	case SnapshotJSON:
		return writeSnapshotJSON(w, header, objects)
	case SnapshotArchive:
		return writeSnapshotArchive(w, header, objects)
	}
	return writeSnapshotYAML(w, header, objects)
}

func writeSnapshotYAML(w io.Writer, header *model.Header, objects []any) error {
	out := bufio.NewWriter(w)
	text, err := appendYAML(nil, header)
	if err != nil {
		return err
	}
	_, _ = out.Write(text)
	for _, o := range objects {
		if text, err = appendYAML(append(text[:0], "---\n"...), o); err != nil {
			return err
		}
		_, _ = out.Write(text)
	}
	return out.Flush()
}

func writeSnapshotJSON(w io.Writer, header *model.Header, objects []any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		*model.Header
		Items []any `json:"items"`
	}{header, objects})
}

// writeSnapshotArchive writes a compressed archive with one file. Equal snapshots make equal
// archives.
func writeSnapshotArchive(w io.Writer, header *model.Header, objects []any) error {
	var text bytes.Buffer
	if err := writeSnapshotYAML(&text, header, objects); err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	if err := t.WriteHeader(&tar.Header{Name: "snapshot.yaml", Mode: 0o644, Size: int64(text.Len())}); err != nil {
		return err
	}
	if _, err := t.Write(text.Bytes()); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}
