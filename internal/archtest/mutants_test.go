package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestMutants sees that the deliberate faults of the comparisons with the vendors' code and with
// their proxies still fit: what they replace is in the file that they name, once. To try them takes
// the vendors' code; a change of ours that makes one void shows here.
func TestMutants(t *testing.T) {
	for _, comparison := range []string{"differential", "proxies"} {
		t.Run(comparison, func(t *testing.T) { testMutants(t, comparison) })
	}
}

func testMutants(t *testing.T, comparison string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "test", comparison, "mutants.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var mutants []struct{ Peer, What, File, Old, New string }
	if err := yaml.UnmarshalStrict(text, &mutants); err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 20 {
		t.Errorf("%d deliberate faults are too few to tell whether the comparison finds any", len(mutants))
	}
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m.File)))
		if err != nil {
			t.Errorf("%s: %v", m.What, err)
			continue
		}
		if n := strings.Count(string(text), m.Old); n != 1 {
			t.Errorf("%s: %s holds %q %d times, and has to hold it once", m.What, m.File, m.Old, n)
		}
		if m.New == m.Old {
			t.Errorf("%s: nothing is replaced", m.What)
		}
	}
}
