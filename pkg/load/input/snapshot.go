package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// headerSearchBytes is within how many bytes the beginning of a file tells whether it is a
// snapshot.
const headerSearchBytes = 256

// IsSnapshot reports whether a file begins with the header of a snapshot, as YAML or JSON.
func IsSnapshot(text []byte) bool {
	begin := text[document.FindContentStart(text):]
	begin = bytes.ReplaceAll(begin[:min(len(begin), headerSearchBytes)], []byte("\r"), nil)
	if !bytes.Contains(begin, []byte(document.SnapshotGroup)) {
		return false
	}
	return bytes.Contains(begin, []byte("kind: "+model.SnapshotKind+"\n")) ||
		bytes.Contains(bytes.ReplaceAll(begin, []byte(" "), nil), []byte(`"kind":"`+model.SnapshotKind+`"`))
}

// splitSnapshot reads the header of a snapshot and cuts out its objects, which are documents that
// follow it or, in JSON, its items.
func splitSnapshot(file document.File, text []byte) (h *model.Header, pieces []document.Raw, err error) {
	var header []byte
	if text[document.FindContentStart(text)] == '{' {
		header, pieces, err = splitJSONSnapshot(file, text)
	} else {
		pieces = document.Split(file, text)
		if header, err = yaml.YAMLToJSON(pieces[0].Text); err == nil {
			pieces = pieces[1:]
		}
	}
	h = &model.Header{}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(header))
		d.DisallowUnknownFields() // one of them may say what is not in it
		err = d.Decode(h)
	}
	switch {
	case err != nil:
	case h.Kind != model.SnapshotKind || h.APIVersion != model.SnapshotVersion:
		err = fmt.Errorf("it is of %s %s, not %s %s", h.APIVersion, h.Kind, model.SnapshotVersion, model.SnapshotKind)
	case slices.ContainsFunc(h.Problems, func(p model.Problem) bool {
		return !slices.Contains([]model.Severity{model.Error, model.Warning, model.Info}, p.Severity)
	}):
		err = errors.New("its header has a problem of unknown severity")
	case h.Cluster == "":
		err = errors.New("its header names no cluster")
	case h.ReadAt != "":
		if _, wrong := time.Parse(time.RFC3339, h.ReadAt); wrong != nil {
			err = fmt.Errorf("the readAt of its header is no time: %q", h.ReadAt)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range pieces {
		pieces[i].Cluster, pieces[i].IsStream = h.Cluster, true
	}
	return h, pieces, nil
}

// splitJSONSnapshot cuts the items out of a snapshot in JSON, and returns the rest as its header.
func splitJSONSnapshot(file document.File, text []byte) (header []byte, pieces []document.Raw, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, err
	}
	header = append(header, '{')
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		key := bytes.Clone(name)
		if string(key) == `"items"` && d.PeekKind() == '[' {
			if pieces, err = splitSnapshotItems(d, file); err != nil {
				return nil, nil, err
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		if len(header) > 1 {
			header = append(header, ',')
		}
		header = append(append(append(header, key...), ':'), value...)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("something follows it")
	}
	return append(header, '}'), pieces, nil
}

// splitSnapshotItems returns the entries of a list, each as a document of its own.
func splitSnapshotItems(d *jsontext.Decoder, file document.File) ([]document.Raw, error) {
	var pieces []document.Raw
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, document.Raw{File: file, Line: 1, Text: bytes.Clone(value)})
	}
	_, err := d.ReadToken()
	return pieces, err
}
