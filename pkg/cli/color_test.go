package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestColor runs a command at a terminal and into a pipe: --color auto heeds both and NO_COLOR, the
// other modes are orders.
func TestColor(t *testing.T) {
	for name, tc := range map[string]struct {
		terminal bool
		noColor  string
		flags    []string
		want     bool
	}{
		"a terminal":                         {terminal: true, want: true},
		"a pipe":                             {},
		"a terminal, NO_COLOR":               {terminal: true, noColor: "1"},
		"a terminal, an empty NO_COLOR":      {terminal: true, noColor: "-", want: true},
		"a terminal, NO_COLOR, --color auto": {terminal: true, noColor: "1", flags: []string{"--color", "auto"}},
		"--color always":                     {flags: []string{"--color", "always"}, want: true},
		"NO_COLOR, --color always":           {noColor: "1", flags: []string{"--color", "always"}, want: true},
		"a terminal, --color never":          {terminal: true, flags: []string{"--color", "never"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, problems bytes.Buffer
			env := func(key string) (string, bool) {
				if key != "NO_COLOR" || tc.noColor == "" {
					return "", false
				}
				return strings.TrimPrefix(tc.noColor, "-"), true
			}
			s := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &problems, OutIsTTY: tc.terminal,
				ErrIsTTY: tc.terminal, LookupEnv: env}
			args := append([]string{"overridden", "-A", "-f", "../../testdata/demo"}, tc.flags...)
			if code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), args, s); code != cli.ExitAnswered {
				t.Fatalf("exit code %d: %s", code, &problems)
			}
			if got := strings.Contains(out.String(), "\x1b["); got != tc.want {
				t.Errorf("answer in colour: %v, want %v", got, tc.want)
			}
			if got := strings.Contains(problems.String(), "\x1b["); got != tc.want {
				t.Errorf("problems in colour: %v, want %v", got, tc.want)
			}
		})
	}
}
