//go:build linux

package hostiletest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// world is a folder of poisoned files.
type world struct{ in string }

func (w world) file(t *testing.T, name string, text []byte) string {
	t.Helper()
	at := filepath.Join(w.in, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// says runs a command line in a CI runner and sees to what it writes. It returns what that is.
func says(t *testing.T, args ...string) string {
	t.Helper()
	var out, beside bytes.Buffer
	env := func(name string) (string, bool) { return "true", name == "GITHUB_ACTIONS" }
	code := cli.App{Plugins: plugins.All()}.Run(context.Background(), args, cli.Streams{In: strings.NewReader(""),
		Out: &out, Err: &beside, LookupEnv: env,
		OutIsTTY: slices.ContainsFunc(args, isTemplate)}) // to a program, templates write texts as they are

	if code == cli.ExitUsage && !strings.Contains(beside.String()+strings.Join(args, ""), "zq") &&
		!strings.Contains(t.Name(), "Files") {
		t.Errorf("%.60q: %s", args, beside.String())
	}
	var command string
	for _, arg := range args {
		command += fmt.Sprintf(" %.60q", arg)
	}
	harmless(t, command, out.String(), slices.Contains(args, "github"))
	harmless(t, command+": stderr", beside.String(), false)
	return out.String() + beside.String()
}

func isTemplate(arg string) bool {
	return strings.HasPrefix(arg, "go-template=") || strings.HasPrefix(arg, "jsonpath=")
}

// ours are the commands of a runner that the program writes itself.
var ours = regexp.MustCompile(`^::(error|warning|notice)( file=[^:]*)?( title=[^:]*)?::|^::(group|endgroup)::`)

// colours are how the program colours.
var colours = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33|34|35|36|90)?m")

// harmless looks for what acts on a terminal, a runner or a page, other than the text that it is.
func harmless(t *testing.T, of, text string, annotates bool) {
	t.Helper()
	text = colours.ReplaceAllString(text, "")
	for n, line := range strings.Split(text, "\n") {
		at := strings.IndexFunc(line, func(r rune) bool {
			return r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
				unicode.Noncharacter_Code_Point) || r == unicode.ReplacementChar)
		})
		trimmed := strings.TrimLeftFunc(line, unicode.IsSpace)
		switch {
		case at >= 0:
			t.Errorf("%s, line %d: a control character: %.120q", of, n+1, line[max(0, at-60):])
		case strings.HasPrefix(trimmed, "::") && (!annotates || !ours.MatchString(line)):
			t.Errorf("%s, line %d: a command: %.120q", of, n+1, line)
		case strings.Contains(line, "##[") || strings.Contains(line, "##vso["):
			at := strings.Index(line, "##")
			t.Errorf("%s, line %d: a command: %.120q", of, n+1, line[max(0, at-60):])
		case strings.Contains(line, "<zq") && strings.HasSuffix(of, `"html"`):
			t.Errorf("%s, line %d: markup: %.120q", of, n+1, line)
		default:
			continue
		}
		return
	}
}

// TestEscapes: whatever the texts of the input are, nothing of them acts on who reads the answer.
func TestEscapes(t *testing.T) {
	t.Setenv("PATH", drawing(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	for d, name := range []string{"texts", "names", "everything"} {
		t.Run(name, func(t *testing.T) { asked(t, dose(d)) })
	}
}

// drawing is the folder with the program that draws.
func drawing(t *testing.T) string {
	t.Helper()
	folder, _ := filepath.Abs("../../bin")
	if _, err := os.Stat(filepath.Join(folder, "dopolicy-draw")); err == nil {
		return folder
	}
	folder = t.TempDir()
	if out, err := exec.Command("go", "build", "-o", folder, "../../cmd/dopolicy-draw").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return folder
}

// asked asks every question of poisoned manifests, in every format.
func asked(t *testing.T, d dose) {
	w := world{t.TempDir()}
	demo := filepath.Dir(w.file(t, "demo/"+poisoned("demo")+".yaml",
		stream(t, objectsOf(t, "../../testdata/demo/*.yaml"), d)))
	refused := w.file(t, "refused.yaml", stream(t, unstored(objectsOf(t, "../../testdata/demo/*.yaml")), d))
	proxied := w.file(t, "audit.yaml", stream(t, objectsOf(t, "../../testdata/audit/manifests.yaml"), d))
	changed := w.file(t, "changed.yaml", stream(t, objectsOf(t, "../../testdata/demo/[bis]*[ys].yaml"), d))
	var dump any
	raw, err := os.ReadFile("../../testdata/audit/proxy-2.json")
	if err == nil {
		err = json.Unmarshal(raw, &dump)
	}
	if err != nil {
		t.Fatal(err)
	}
	raw, _ = json.Marshal(poison(dump, d, "", false))
	dumped := w.file(t, "dump.json", raw)
	requirements := w.file(t, "requirements.yaml",
		stream(t, objectsOf(t, "../../testdata/requirements/requirements.yaml"), free))
	called := func(s string) string {
		if d == free {
			return s
		}
		return poisoned(s)
	}
	route := "httproute/" + called("cart")
	shop := called("shop")
	log := w.file(t, "access.log", []byte(logOf(called("shop.example.com"))))
	listed := []string{"table", "wide", "name", "yaml", "json", "ndjson", "go-template={{.}}", "jsonpath={.items}",
		"custom-columns=A:.items,B:.problems"}
	plain := []string{"table", "wide", "yaml", "json", "ndjson"}
	for _, one := range []struct {
		args    []string
		formats []string
	}{
		{[]string{"effective", "-A", "-f", demo, "-v"}, append([]string{"grouped", "tree"}, listed...)},
		{[]string{"effective", "-A", "-f", refused, "-v"}, plain},
		{[]string{"status", "-A", "--all", "-f", refused, "-v"}, plain},
		{[]string{"check", "-f", refused, "--config", "none"}, []string{"table", "sarif", "junit", "github", "json"}},
		{[]string{"effective", route, "-n", shop, "-f", demo}, append([]string{"grouped", "tree"}, plain...)},
		{[]string{"effective", "-f", demo, "--for-request", "GET https://shop.example.com/cart"}, plain},
		{[]string{"matrix", "-A", "-f", demo}, append([]string{"openmetrics"}, listed...)},
		{[]string{"reach", called("gw-auth"), "-n", called("infra"), "-f", demo}, listed},
		{[]string{"overridden", "-A", "-f", demo}, listed},
		{[]string{"explain", route, "-n", shop, "-f", demo}, plain},
		{[]string{"explain", route + "/" + called("refund"), "-n", shop, "-f", demo}, plain},
		{[]string{"explain", route + "/" + called("refund"), "rules.authorization." + called("geo"), "-n", shop, "-f",
			demo}, plain},
		{[]string{"status", "-A", "--all", "-f", demo}, listed},
		{[]string{"audit", "-A", "-f", demo}, listed[:6]},
		{[]string{"audit", "--dataplane", dumped, "-f", proxied}, []string{"table", "wide", "name", "markdown",
			"sarif", "junit", "github", "yaml", "json"}},
		{[]string{"graph", "-f", demo}, []string{"dot", "mermaid", "svg", "json", "yaml", "table", "name"}},
		{[]string{"graph", "-f", demo, "--layout", "flat", "--collapse", "none"}, []string{"dot", "mermaid"}},
		{[]string{"graph", "-f", proxied, "--dataplane", dumped}, []string{"dot", "mermaid"}},
		{[]string{"graph", "--focus", route, "-n", shop, "-f", demo}, []string{"dot", "mermaid", "table"}},
		{[]string{"request", "GET", "https://shop.example.com/cart", "-f", demo}, listed[:6]},
		{[]string{"request", "https://" + called("shop.example.com") + "/" + poisoned("cart"), "-H",
			"x: " + poisoned("y"), "-f", demo}, plain},
		{[]string{"prove", "--require", "AuthPolicy", "-f", demo}, []string{"table", "wide", "yaml", "json", "ndjson",
			"sarif", "junit", "github"}},
		{[]string{"prove", "--expression", `"` + "zq" + `" in effective`, "-f", demo}, []string{"table", "sarif",
			"junit", "github"}},
		{[]string{"prove", "--property", "one-namespace-per-host", "-f", demo}, []string{"table", "sarif",
			"junit", "github"}},
		{[]string{"prove", "--property", "only-listed-exposed", "--allow", "zq.example.com", "-f", demo},
			[]string{"table", "json"}},
		{[]string{"diff", demo, changed}, append([]string{"unified", "markdown"}, listed[:6]...)},
		{[]string{"diff", changed, demo, "--by-rule"}, []string{"table", "markdown"}},
		{[]string{"diff", "--behavior", demo, changed, "--weights", log}, []string{"table", "wide", "markdown",
			"yaml", "json"}},
		{[]string{"diff", "--behavior", changed, demo}, []string{"table", "markdown"}},
		{[]string{"check", "-f", demo, "--requirements", requirements, "--config", "none", "--show-suppressed", "-v"},
			[]string{"table", "wide", "name", "sarif", "junit", "github", "yaml", "json", "openmetrics"}},
		{[]string{"check", "coverage", "--requirements", requirements, "-f", demo, "--budget", "5"},
			[]string{"table", "markdown", "json"}},
		{[]string{"kinds", "-f", demo}, []string{"table", "wide", "name", "yaml", "json"}},
		{[]string{"publish", "-f", demo, "--to", "stdout", "--config", "none"}, []string{""}},
		{[]string{"publish", "-f", demo, "--dry-run", "--config", "none"}, []string{"table", "wide", "yaml", "json"}},
		{[]string{"report", "-f", demo, "--config", "none", "--title", poisoned("t"), "--requirements", requirements},
			[]string{"html", "json"}},
		{[]string{"report", "-f", demo, "--config", "none", "--no-picture"}, []string{"html"}},
	} {
		// a few answers have none
		seen := d != free || one.args[0] == "kinds" || slices.Contains(one.args, "one-namespace-per-host")
		for _, format := range one.formats {
			args := one.args
			if format != "" {
				args = slices.Concat(one.args, []string{"-o", format})
			}
			seen = seen || strings.Contains(says(t, args...), "zq")
		}
		if !seen {
			t.Errorf("%.60q: nothing of the texts", one.args)
		}
		if one.formats[0] == "table" {
			says(t, slices.Concat(one.args, []string{"--color", "always"})...)
		}
	}
}

// logOf is an access log in each form.
func logOf(host string) string {
	quoted, _ := json.Marshal(map[string]string{"method": "GET", "path": "/cart?x=" + poisonBehind, ":authority": host})
	p := strings.ReplaceAll(poisonBehind, "\n", "")
	return string(quoted) + "\n" +
		`[2026-01-05T10:00:00.000Z] "GET /cart` + p + ` HTTP/1.1" 200 - 0 512 4 3 "192.0.2.7" "` + p +
		`" "5b1f" "shop.example.com" "10.0.0.9:8080"` + "\n" +
		"::set-output name=zq::x\n" + `192.0.2.9 - - [05/Jan/2026:10:00:03 +0000] "POST /` + p +
		` HTTP/1.1" 200 77 "-" "curl"` + "\n"
}
