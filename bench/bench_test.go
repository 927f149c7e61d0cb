package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary be the sides that the comparison starts.
func TestMain(m *testing.M) {
	if side := os.Getenv(sideEnv); side != "" {
		os.Exit(runSide(side, os.Args[1:], os.Stdout))
	}
	os.Exit(m.Run())
}

// quickly is the report of what is measured alone, or of everything, at small sizes.
func quickly(t *testing.T, only string) string {
	t.Helper()
	o := quick
	o.only = only
	var out bytes.Buffer
	if err := run(t.Context(), o, &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestQuick runs everything at small sizes. It fails unless both engines build and agree.
func TestQuick(t *testing.T) {
	out := quickly(t, "")
	for _, want := range []string{"all agree on the settings", "policy-machinery / this engine", "loading / nodes", "every request hits its rule",
		"one request, whole program / loading", "requests / one request", "a reference agrees with", "diff / effective -A, every policy changes", "report / effective -A", "status -A / effective -A -o json", "policies on one route: status -A", "all in one run / single runs"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not say %q:\n%s", want, out)
		}
	}
}

func TestLarge(t *testing.T) {
	if out := quickly(t, "large"); !strings.Contains(out, "\n  400 routes ") || !strings.Contains(out, "\n  all of them / a tenth of them ") {
		t.Error(out)
	}
}

func TestComparisonAlone(t *testing.T) {
	if out := quickly(t, "comparison"); !strings.Contains(out, "all agree on the settings") || strings.Contains(out, "loading / nodes") {
		t.Error(out)
	}
}

// TestAgree: a difference in one source is found, and so is a missing path.
func TestAgree(t *testing.T) {
	const path = "infra/gw0 l0 ns0/r0 rule0\trules.authentication.shared=infra/gw0:{}\n"
	for _, c := range []struct{ name, engine, peer, want string }{
		{"same", path, path, ""},
		{"another source", path, strings.Replace(path, "=infra/gw0", "=ns0/r0", 1), "do not agree\n"},
		{"a path more", path, path + path, "policy-machinery on 2, and there are 1"},
		{"a path missing on both sides", "", "", "on 0 paths, policy-machinery on 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			engine, peer := folder+"/engine", folder+"/peer"
			for name, text := range map[string]string{engine: c.engine, peer: c.peer} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			if err := agree(engine, peer, 1); err != nil {
				got = err.Error()
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestTopology holds the generator to the pinned shape.
func TestTopology(t *testing.T) {
	var out bytes.Buffer
	if err := writeTopology(&out, pinned.routes); err != nil {
		t.Fatal(err)
	}
	s := shapeOf(pinned.routes)
	for text, want := range map[string]int{
		"\nkind: Gateway\n": 10, "protocol: HTTP,": 20, "\nkind: HTTPRoute\n": 1000, "  - name: rule": 2000,
		"\nkind: AuthPolicy\n": 10 + 500 + 200, "    kind: Gateway\n": 10, "    sectionName: ": 200,
	} {
		if got := strings.Count(out.String(), text); got != want {
			t.Errorf("%q is there %d times, want %d", text, got, want)
		}
	}
	if s != (shape{routes: 1000, rules: 2000, policies: 710, paths: 4000}) {
		t.Errorf("the shape is %+v", s)
	}
}
