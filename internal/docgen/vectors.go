package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// vector is what a semantic vector says of itself, as far as policy kinds are named in it.
type vector struct {
	Expect []struct {
		PolicyKind string `yaml:"policyKind"`
	}
	Status []struct {
		Object struct{ Kind string }
	}
	Connections []any

	// of the manifests of one that asks about connections: policies of different kinds decide there
	// together
	kinds map[model.GroupKind]bool
}

// proves says whether the vector expects something of a policy kind.
func (v vector) proves(k model.GroupKind) bool {
	for _, e := range v.Expect {
		if model.ParseGroupKind(e.PolicyKind) == k {
			return true
		}
	}
	for _, s := range v.Status {
		if s.Object.Kind == k.Kind {
			return true
		}
	}
	return v.kinds[k]
}

// vectors are the semantic vectors in a vendor's folder. Without the folder there are none.
func vectors(dir string) ([]vector, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []vector
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "base") || filepath.Ext(e.Name()) != ".yaml" {
			continue
		}
		v, err := readVector(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// readVector reads the first document of a vector, which describes it, and the kinds of the others
// where that tells what it proves.
func readVector(path string) (vector, error) {
	var v vector
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	documents := yaml.NewDecoder(f)
	if err := documents.Decode(&v); err != nil && !errors.Is(err, io.EOF) {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	v.kinds = map[model.GroupKind]bool{}
	for len(v.Connections) > 0 {
		var o struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
		}
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return v, fmt.Errorf("%s: %w", path, err)
		}
		group, _, _ := strings.Cut(o.APIVersion, "/")
		v.kinds[model.GroupKind{Group: group, Kind: o.Kind}] = true
	}
	return v, nil
}

// proving counts the vectors that expect something of one of the kinds.
func proving(all []vector, kinds []model.GroupKind) int {
	n := 0
	for _, v := range all {
		for _, k := range kinds {
			if v.proves(k) {
				n++
				break
			}
		}
	}
	return n
}
