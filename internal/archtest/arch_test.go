package archtest

import (
	"slices"
	"testing"
)

var checks = []struct {
	name  string
	check check
}{
	{"import direction", importDirection},
	{"merge imports std only", mergeIsStd},
	{"pure core", pureCore},
	{"no vendor under pkg", noVendor},
	{"no init", noInit},
	{"no exit, no panic", noExit},
}

// TestModule holds every check against every file of the module.
func TestModule(t *testing.T) {
	files := sources(t)
	if !slices.ContainsFunc(files, func(s source) bool { return s.in("pkg/model") }) {
		t.Fatal("pkg/model was not found: is the root of the module where this test looks for it?")
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range files {
				for _, b := range c.check(s) {
					t.Error(b)
				}
			}
		})
	}
}

// TestTable keeps core and layers in step.
func TestTable(t *testing.T) {
	for _, name := range core {
		if !slices.Contains(layers, name) {
			t.Errorf("core package %s is not in the package table", name)
		}
	}
}
