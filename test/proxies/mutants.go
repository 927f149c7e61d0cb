package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

const (
	mutantsFile = "mutants.yaml"
	mutantSeeds = 500 // within which a fault has to be found
)

// mutants builds the program with each fault that this vendor's proxies have to find, and compares until it is found.
func (r *run) mutants(ctx context.Context, folder string) error {
	all, err := program.ReadMutants(mutantsFile, row{run: r}.name())
	if err != nil {
		return err
	}
	missed := 0
	for i, m := range all {
		path := filepath.Join(folder, fmt.Sprintf("mutant-%d", i))
		if r.program, err = m.Build(ctx, path); err != nil {
			return fmt.Errorf("%s: %w", m.What, err)
		}
		t, err := r.all(ctx, seeds{1, mutantSeeds}, time.Time{}, func(t *tally) bool { return t.open() > 0 })
		if err != nil {
			return fmt.Errorf("%s: %w", m.What, err)
		}
		if t.open() == 0 {
			missed++
			fmt.Printf("%s: MISSED: %s\n", row{run: r}.name(), m.What)
		} else {
			fmt.Printf("%s: found after %d worlds: %s\n", row{run: r}.name(), t.Worlds, m.What)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%s: %d deliberate faults were not found", r.vendor.Name, missed)
	}
	return nil
}
