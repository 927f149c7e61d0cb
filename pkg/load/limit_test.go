package load_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("timed: run by make test-hostile")
	}
	const deep = 100_000
	nested := "not used: maps and lists are nested deeper than 100"
	tests := []struct {
		name, text string
		limits     load.Limits
		message    string
		line       int
	}{
		{"bytes", "# x\n" + loadtest.Thing("big") + "spec: " + strings.Repeat("x", 200), load.Limits{Document: 150},
			"not used: the document is larger than 150 bytes", 6},
		{"brackets", strings.Repeat("[", deep), load.Limits{}, nested, 5},
		{"brackets and words", strings.Repeat("[a,", deep), load.Limits{}, nested, 5},
		{"braces", strings.Repeat("{a: ", deep), load.Limits{}, nested, 5},
		{"dashes", strings.Repeat("- ", deep), load.Limits{}, nested, 5},
		{"question marks", strings.Repeat("? ", deep), load.Limits{}, nested, 5},
		{"indentation", "a:\n" + ladder(101), load.Limits{}, nested, 105},
		{"closed brackets", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), load.Limits{}, nested, 5},
		{"JSON", strings.Repeat("{\"a\":\n", deep), load.Limits{}, nested, 105},
		{"closed JSON", strings.Repeat("[", deep) + strings.Repeat("]", deep), load.Limits{}, nested, 5},
		{"depth through aliases", "a: &a [[[[1]]]]\nb: [[[*a]]]\n", load.Limits{Depth: 7},
			"not used: maps and lists are nested deeper than 7", 6},
		{"lists of aliases", loadtest.Bomb("[", "*a%[2]d, ", "]"), load.Limits{},
			"not used: aliases repeat more than 100000 keys and values", 13},
		{"maps of aliases", loadtest.Bomb("{", "k%d: *a%d, ", "}"), load.Limits{},
			"not used: aliases repeat more than 100000 keys and values", 13},
		{"merges", loadtest.Bomb("{<<: [", "*a%[2]d, ", "]}"), load.Limits{},
			"not used: aliases repeat more than 100000 keys and values", 13},
		{"huge list", "a: [" + strings.Repeat("b,", 4_100_000) + "]", load.Limits{},
			"not used: the document may hold more than 4000000 keys and values", 5},
		{"huge JSON list", "{\"a\": [\n" + strings.Repeat("1,", 4_100_000) + "1]}", load.Limits{},
			"not used: the document may hold more than 4000000 keys and values", 5},
		{"values", "x: &x [1, 2, 3, 4, 5, 6, 7, 8]\na: [*x, *x, *x]", load.Limits{Nodes: 30},
			"not used: the document holds more than 30 keys and values", 6},
		{"directives", "%YAML 1.2\r" + strings.Repeat("%TAG !a! b\r", 200) + "---\ra: 1\n", load.Limits{},
			"not used: the document has more than 100 directives", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			s := stdin(t, loadtest.Thing("a")+"---\n"+tt.text+"\n---\n"+loadtest.Thing("b"), tt.limits)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			want := fmt.Sprintf("error LimitExceeded stdin:%d: %s", tt.line, tt.message)
			loadtest.Same(t, loadtest.Describe(s), "thing/ns/a stdin:1", "thing/ns/b "+s.Objects[1].Origin.String(),
				want)
		})
	}
}

// ladder is a map in a map in a map, n deep.
func ladder(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String()
}

func TestRepeatedValuesAreShared(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: &a\n  long: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "k%d: *a\n", i)
	}
	s := stdin(t, loadtest.Thing("a")+b.String(), load.Limits{})
	if len(s.Objects) != 1 || len(s.Problems) != 0 {
		t.Fatal(loadtest.Describe(s))
	}
	if got := fmt.Sprint(s.Objects[0].Get("k4999", "long")); got != "[1 2 3 4 5 6 7 8 9]" {
		t.Error(got)
	}
	if got := s.Objects[0].OriginOf("k4999", "long", "3").Line; got != 5 {
		t.Error(got)
	}
}

func TestTotal(t *testing.T) {
	loadtest.Write(t, map[string]string{"a.yaml": loadtest.Thing("a"), "b.yaml": loadtest.Thing("b") + "# " +
		strings.Repeat("x", 500), "c.yaml": loadtest.Thing("c")})
	refused := "LimitExceeded %s:1: not read: with this file the input is larger than the limit for all files together (--max-input) (read fewer files at once, or raise --max-input)"
	s, err := load.Files(context.Background(), load.Options{
		Paths: []string{"a.yaml", "b.yaml", "-", "c.yaml"}, Stdin: strings.NewReader(strings.Repeat("x",
			500)), Limits: load.Limits{Total: 400},
	})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, loadtest.Describe(s), "thing/ns/a a.yaml:1", "thing/ns/c c.yaml:1", "error "+fmt.Sprintf(refused,
		"b.yaml"), "error "+fmt.Sprintf(refused, "stdin"))
}
