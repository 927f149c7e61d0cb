package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Mutant is a deliberate fault in the program: a text of one file replaced by another.
type Mutant struct {
	Peer string `json:"peer"` // that has to find it
	What string `json:"what"`
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// ReadMutants reads a file with deliberate faults, and leaves out those that other peers have to find.
func ReadMutants(path, peer string) ([]Mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all, out []Mutant
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	for _, m := range all {
		if m.Peer == peer {
			out = append(out, m)
		}
	}
	return out, nil
}

// Build builds kubectl-dopolicy with the fault in it, by an overlay; the tree stays as it is. It leaves files beside the program.
func (m Mutant) Build(ctx context.Context, path string) (Program, error) {
	file, err := filepath.Abs(filepath.Join(tree, m.File))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return "", fmt.Errorf("%s holds %q %d times, and has to hold it once", m.File, m.Old, n)
	}
	changed := path + "-changed" + filepath.Ext(m.File) // another name than that of the overlay, which may be JSON too
	if err := os.WriteFile(changed, bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path+".json", overlay, 0o644); err != nil {
		return "", err
	}
	return Build(ctx, path, path+".json")
}
