package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestGraphOnTerminal: a terminal gets DOT only if that was asked for, and a pipe as before.
func TestGraphOnTerminal(t *testing.T) {
	for _, tc := range []struct {
		args            []string
		terminal        bool
		want, not, said string
	}{
		{[]string{"graph", "baker"}, true, "26 edges\n", "digraph", "--open"},
		{[]string{"graph"}, true, "more edges (-o table shows all)\n", "digraph", "-o svg > policies.svg"},
		{[]string{"graph", "baker", "-o", "dot"}, true, "digraph", "26 edges", ""},
		{[]string{"graph", "baker"}, false, "digraph", "26 edges", ""},
	} {
		var out, said bytes.Buffer
		s := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &said, OutIsTTY: tc.terminal,
			LookupEnv: func(string) (string, bool) { return "", false }}
		code := cli.App{Plugins: plugins.All()}.Run(t.Context(), append(tc.args, "-f", "../../testdata/demo"), s)
		if code != cli.ExitAnswered || !strings.Contains(out.String(), tc.want) ||
			strings.Contains(out.String(), tc.not) || !strings.Contains(said.String(), tc.said) ||
			tc.said == "" && strings.Contains(said.String(), "hint: add") {
			t.Errorf("%s: %d\n%s%s", tc.args, code, &out, &said)
		}
	}
}
