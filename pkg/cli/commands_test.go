package cli

import (
	"io"
	"slices"
	"testing"
)

// TestCommandFor has each command found by its name, alone, and everything else by the whole tree.
func TestCommandFor(t *testing.T) {
	s := Streams{Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}
	names := func(line ...string) (out []string) {
		for _, cmd := range buildCommandTree(App{}.newEnvironment(s), line, nil).Commands() {
			out = append(out, cmd.Name())
		}
		return out
	}
	all := names()
	for _, m := range commandConstructors() {
		if got := names(m.name, "--help"); !slices.Equal(got, []string{m.name}) {
			t.Errorf("%s makes %v", m.name, got)
		}
	}
	for _, line := range [][]string{{}, {"help", "status"}, {"--help"}, {"-n", "shop", "status"}, {"statu"},
		{"__complete", "status", ""}, {"completion", "bash"}} {
		if got := names(line...); !slices.Equal(got, all) || len(got) != len(commandConstructors()) {
			t.Errorf("%v makes %v", line, got)
		}
	}
}
