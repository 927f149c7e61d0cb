package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// mutantsFile lists the deliberate faults.
const mutantsFile = "mutants.yaml"

// TryMutants builds the program with each fault that a peer has to find, and has try compare some seeds with it, until the fault is found. try says
// whether it was, and how many inputs that took; input is what one is called.
func TryMutants(ctx context.Context, peer, folder, input string, within Seeds,
	try func(context.Context, program.Program, Seeds) (found bool, inputs int, err error)) error {
	all, err := program.ReadMutants(mutantsFile, peer)
	if err != nil {
		return err
	}
	missed := 0
	for i, m := range all {
		path := filepath.Join(folder, fmt.Sprintf("mutant-%d", i))
		built, err := m.Build(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", m.What, err)
		}
		found, inputs, err := try(ctx, built, within)
		if err != nil {
			return fmt.Errorf("%s: %w", m.What, err)
		}
		if found {
			fmt.Printf("%s: found after %d %ss: %s\n", peer, inputs, input, m.What)
		} else {
			missed++
			fmt.Printf("%s: MISSED: %s\n", peer, m.What)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%s: %d deliberate faults were not found", peer, missed)
	}
	return nil
}
