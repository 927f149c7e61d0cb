package vectortest

import (
	"bytes"
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestShuffledDocuments holds every answer byte for byte, line numbers aside, against that for the
// same documents in another order.
func TestShuffledDocuments(t *testing.T) {
	files, err := filepath.Glob("../../testdata/demo/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no demo: %v", err)
	}
	var docs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, strings.Split(string(text), "\n---\n")...)
	}
	lines := regexp.MustCompile(`"line": \d+|stdin:\d+`)
	for _, args := range [][]string{
		{"effective", "-A", "-o", "json"}, {"effective", "baker", "--verbose"}, {"reach", "gw-auth", "-o",
			"json"}, {"overridden", "-o", "json"},
		{"explain", "cart", "-o", "json"}, {"graph", "-o", "json"}, {"graph", "-o", "dot"}, {"kinds", "-o",
			"json"}, {"matrix", "-A", "-o", "json"},
		{"diff", "-", "--delete", "authpolicy/gw-auth", "-o", "json"}, {"diff", "-", "--delete", "gateway/external",
			"-o", "unified"},
	} {
		var first string
		for seed := range 8 {
			rand.New(rand.NewSource(int64(seed))).Shuffle(len(docs), func(i, j int) {
				docs[i],
					docs[j] = docs[j], docs[i]
			})
			var out bytes.Buffer
			app := cli.App{Plugins: plugins.All()}
			in := strings.NewReader(strings.Join(docs, "\n---\n") + "\n") // a text may end with the document
			line, want := append(args, "-f", "-"), 0
			if args[0] == "diff" {
				line, want = args, cli.ExitFindings
			}
			if code := app.Run(context.Background(), line, cli.Streams{In: in, Out: &out, Err: &out,
				LookupEnv: os.LookupEnv}); code != want {
				t.Fatalf("%v: exit %d\n%s", args, code, out.String())
			}
			got := lines.ReplaceAllString(out.String(), "line")
			if seed == 0 {
				first = got
			} else if got != first {
				t.Fatalf("%v: another order of documents gives another answer (seed %d)", args, seed)
			}
		}
	}
}
