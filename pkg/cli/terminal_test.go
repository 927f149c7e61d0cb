//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
)

// onTerminal are commands whose answers have to fit the terminal.
var onTerminal = map[string]string{
	"effective-baker": "effective baker -n bakery",
	"effective-all":   "effective -A",
	"effective-tree":  "effective baker -n bakery -o tree",
	"reach":           "reach infra/gw-auth/geo",
	"overridden":      "overridden -A",
	"status":          "status -A",
	"request":         "request GET https://shop.example.com/cart/checkout",
	"check":           "check",
	"matrix":          "matrix",
	"explain":         "explain baker/rule-1 limits.cap -n bakery",
}

var colorCode = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestTerminalWidth runs the main commands on a pseudo-terminal: no line wraps, and what is shown
// is what testdata/terminal says. UPDATE_GOLDEN=1 rewrites it.
func TestTerminalWidth(t *testing.T) {
	for _, width := range []int{80, 120} {
		for name, args := range onTerminal {
			t.Run(fmt.Sprintf("%d/%s", width, name), func(t *testing.T) {
				out := terminal(t, width, strings.Fields(args+" -f demo")...)
				for line := range strings.Lines(out) {
					line = colorCode.ReplaceAllString(strings.TrimRight(line, "\n"), "")
					if n := utf8.RuneCountInString(line); n > width {
						t.Errorf("%d columns: %s", n, line)
					}
				}
				golden := filepath.Join("..", "..", "testdata", "terminal", fmt.Sprint(width), name+".txt")
				if os.Getenv("UPDATE_GOLDEN") != "" {
					if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(golden, []byte(out), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if out != string(want) {
					t.Errorf("got\n%s\nwant\n%s", out, want)
				}
			})
		}
	}
}

// terminal is what the program shows on a terminal of a width, with stderr.
func terminal(t *testing.T, width int, args ...string) string {
	cmd := exec.Command("kubectl-dopolicy", args...)
	cmd.Dir = filepath.Join("..", "..", "testdata")
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=1", "COLUMNS=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: uint16(width)})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, tty); err != nil && !errors.Is(err, syscall.EIO) { // Linux says so at the end
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() > 1 {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}
