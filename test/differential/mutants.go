package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// mutant is a deliberate fault in the program: a text of one file replaced by another.
type mutant struct {
	Peer string `json:"peer"` // that has to find it
	What string `json:"what"`
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

const (
	mutantsFile = "mutants.yaml"
	mutantSeeds = 1000 // within which a fault has to be found
)

// mutants builds the program with each fault that this peer has to find, and compares until it is found.
func (r *run) mutants(ctx context.Context, folder string) error {
	text, err := os.ReadFile(mutantsFile)
	if err != nil {
		return err
	}
	var all []mutant
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		return fmt.Errorf("reading %s: %w", mutantsFile, err)
	}
	missed := 0
	for i, m := range all {
		if m.Peer != r.peer.name {
			continue
		}
		path := filepath.Join(folder, fmt.Sprintf("mutant-%d", i))
		if err := m.build(ctx, path); err != nil {
			return fmt.Errorf("%s: %w", m.What, err)
		}
		r.program = program(path)
		t, err := r.all(ctx, seeds{1, mutantSeeds}, time.Time{}, func(t *tally) bool { return t.open() > 0 })
		if err != nil {
			return fmt.Errorf("%s: %w", m.What, err)
		}
		if t.open() == 0 {
			missed++
			fmt.Printf("%s: MISSED: %s\n", r.peer.name, m.What)
		} else {
			fmt.Printf("%s: found after %d inputs: %s\n", r.peer.name, t.Inputs, m.What)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%s: %d deliberate faults were not found", r.peer.name, missed)
	}
	return nil
}

// build builds the program with the fault in it, by an overlay; the tree stays as it is.
func (m mutant) build(ctx context.Context, path string) error {
	file, err := filepath.Abs(filepath.Join("..", "..", m.File))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return fmt.Errorf("%s holds %q %d times, and has to hold it once", m.File, m.Old, n)
	}
	changed := path + ".go"
	if err := os.WriteFile(changed, bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), 0o644); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".json", overlay, 0o644); err != nil {
		return err
	}
	return buildProgram(ctx, path, path+".json")
}
