//go:build linux

package hostiletest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// asProgram is set in the environment of the runs: the test's own binary is then the program.
const asProgram = "DOPOLICY_HOSTILE"

// What a run may take: processor time and memory.
const (
	mostTime   = 10 * time.Second
	mostMemory = 600 << 10 // KiB
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.App{Plugins: plugins.All()}.Run(context.Background(), os.Args[1:], cli.Terminal()))
	}
	os.Exit(m.Run())
}

// attack is one input and the command that reads it. Arguments that begin with @ are files of it.
type attack struct {
	name string
	args string
	file func() []byte // the content of @file; nil: there is none
	exit int
	want string // in what the program says
}

const route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {rules: [{name: x}]}\n"

var attacks = []attack{
	{"aliases in requirements", "check -f @route --requirements @file", aliases("apiVersion: dopolicy.dev/v1alpha1\nkind: Requirement\n"), 2, "more than 1000000 keys and values"},
	{"aliases in descriptors", "effective -f @route --policy-kinds @file", aliases("apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\n"), 2, "more than 1000000 keys and values"},
	{"aliases in tests", "check test @file", aliases("apiVersion: dopolicy.dev/v1alpha1\nkind: RequirementTest\n"), 2, "more than 1000000 keys and values"},
	{"aliases in a config", "check -f @route --config @file", aliases(""), 2, "unknown key"},
	{"aliases in manifests", "effective -f @file", aliases("apiVersion: v1\nkind: ConfigMap\n"), 3, "aliases repeat more than"},
	{"an endless device as manifests", "effective -f /dev/zero", nil, 3, "is not text"},
	{"an endless device as requirements", "check -f @route --requirements /dev/zero", nil, 3, "larger than 16 MiB"},
	{"an endless device as a config", "check -f @route --config /dev/zero", nil, 3, "larger than 16 MiB"},
	{"an endless device as descriptors", "effective -f @route --policy-kinds /dev/zero", nil, 3, "larger than 16 MiB"},
	{"an endless device as a template", "effective -f @route -o go-template-file=/dev/zero", nil, 3, "larger than 16 MiB"},
	{"an endless device as tests", "check test /dev/zero", nil, 3, "larger than 16 MiB"},
	{"an endless device as requests", "request -f @route --requests-file /dev/zero", nil, 3, "reading requests"},
	{"a device in a config", "check -f @route --config @file", text("requirements: [/dev/zero]\n"), 3, "not a regular file"},
	{"a device in a test", "check test @file", text("apiVersion: dopolicy.dev/v1alpha1\nkind: RequirementTest\nrequirements: [/dev/zero]\ntests:\n- {name: x, files: [/dev/zero]}\n"), 3, "not a regular file"},
	{"megabytes of zipped spaces", "effective -f @file", zipped([]byte(" "), 512<<20), 3, "200 times its size"},
	{"megabytes of zipped nothing", "effective -f @file", zipped([]byte{0}, 512<<20), 3, "no document could be read"},
	{"an archive of many entries", "effective -f @file", zipped(entry(), 500_000), 3, "more than 100000 entries"},
	{"lists within lists", "effective -f @file", text("a: " + strings.Repeat("[", 100_000)), 3, "nested deeper than 100"},
	{"lists within lists in JSON", "effective -f @file", text(strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)), 3, "nested deeper than 100"},
	{"many small documents", "effective -f @file", repeated("---\na: 1\n", 200_000), 3, "neither apiVersion nor kind"},
	{"many empty documents", "effective -f @file", repeated("---\n{}\n", 1_600_000), 3, "no document could be read"},
	{"unique items", "check -f @file", definition("", "uniqueItems: true", "{a: x}", 30_000), 1, "more than 200000000 steps"},
	{"a large pattern", "check -f @file", definition("pattern: '^(a?){500}a{500}$'", "", strings.Repeat("a", 1000), 2_000), 1, "more than 200000000 steps"},
	{"rules within rules", "check -f @file", definition("", "x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, self.all(z, x + y + z != \"\")))'}]", "v", 5_000), 1, "SchemaViolation"},
}

func TestAttacks(t *testing.T) {
	folder := t.TempDir()
	routeFile := filepath.Join(folder, "route.yaml")
	if err := os.WriteFile(routeFile, []byte(route), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			file := filepath.Join(folder, fmt.Sprintf("%d.yaml", i))
			if a.file != nil {
				if err := os.WriteFile(file, a.file(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := strings.Fields(strings.NewReplacer("@file", file, "@route", routeFile).Replace(a.args))
			run(t, a, args)
		})
	}
}

// run runs the program, and sees to it that it ends as it should.
func run(t *testing.T, a attack, args []string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 6*mostTime) // a run that has to be killed has failed
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	said, _ := cmd.CombinedOutput()
	state := cmd.ProcessState
	if state == nil || state.ExitCode() != a.exit || !strings.Contains(string(said), a.want) {
		t.Errorf("%v, want exit %d and %q: %.500s", state, a.exit, a.want, said)
		return
	}
	if took := state.UserTime() + state.SystemTime(); took > mostTime {
		t.Errorf("took %s of processor time", took)
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok && usage.Maxrss > mostMemory {
		t.Errorf("took %d MiB", usage.Maxrss>>10)
	}
}

func text(s string) func() []byte { return func() []byte { return []byte(s) } }

func repeated(s string, n int) func() []byte {
	return func() []byte { return bytes.Repeat([]byte(s), n) }
}

// aliases is a document behind a head that is small, and has 10¹¹ values.
func aliases(head string) func() []byte {
	var b strings.Builder
	b.WriteString(head + "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 11; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return text(b.String())
}

// definition is a kind whose objects have a list of items, with what the schema says of an item and of the list, and one such object.
func definition(ofItem, ofList, item string, n int) func() []byte {
	kind := "string"
	if strings.HasPrefix(item, "{") {
		kind = "object\n                  x-kubernetes-preserve-unknown-fields: true"
	}
	return func() []byte {
		return []byte(route + `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              list:
                type: array
                ` + ofList + `
                items:
                  type: ` + kind + `
                  ` + ofItem + `
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t, namespace: a}
spec:
  list:
` + strings.Repeat("  - "+item+"\n", n))
	}
}

// zipped is a text many times, compressed.
func zipped(part []byte, times int) func() []byte {
	return func() []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		chunk := bytes.Repeat(part, max(1, min(times, (1<<20)/len(part))))
		for done := 0; done < times; done += len(chunk) / len(part) {
			_, _ = z.Write(chunk)
		}
		_ = z.Close()
		return out.Bytes()
	}
}

// entry is an empty file in an archive.
func entry() []byte {
	block := make([]byte, 512)
	copy(block, "a.yaml")
	copy(block[100:], "0000644\x000000000\x000000000\x0000000000000\x0000000000000\x00        0")
	copy(block[257:], "ustar\x0000")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return block
}
