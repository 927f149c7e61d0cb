//go:build linux

package hostiletest

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
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
		os.Exit(cli.App{Plugins: plugins.All()}.RunUntilSignal(os.Args[1:], cli.Terminal()))
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("hostile input is not tried in short mode: make test-hostile")
		return
	}
	debug.SetGCPercent(100) // a run is as large as this process is when it starts it
	os.Exit(m.Run())
}

// attack is one input and the command that reads it. Arguments that begin with @ are files of it.
type attack struct {
	name string
	args string
	file func() []byte // the content of @file; nil: there is none
	exit int
	want string // in what the program says

	serve func() http.HandlerFunc // the API server to which the kubeconfig @cluster leads
}

const route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {rules: [{name: x}]}\n"

var attacks = []attack{
	{name: "aliases in requirements", args: "check -f @route --requirements @file",
		file: aliases("apiVersion: dopolicy.dev/v1alpha1\nkind: Requirement\n"), exit: 2,
		want: "more than 1000000 keys and values"},
	{name: "aliases in descriptors", args: "effective -f @route --policy-kinds @file",
		file: aliases("apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\n"), exit: 2,
		want: "more than 1000000 keys and values"},
	{name: "aliases in tests", args: "check test @file",
		file: aliases("apiVersion: dopolicy.dev/v1alpha1\nkind: RequirementTest\n"), exit: 2,
		want: "more than 1000000 keys and values"},
	{name: "aliases in a config", args: "check -f @route --config @file", file: aliases(""), exit: 2,
		want: "unknown key"},
	{name: "aliases in manifests", args: "effective -f @file", file: aliases("apiVersion: v1\nkind: ConfigMap\n"),
		exit: 3, want: "aliases repeat more than"},
	{name: "an endless device as manifests", args: "effective -f /dev/zero", file: nil, exit: 3, want: "is not text"},
	{name: "an endless device as requirements", args: "check -f @route --requirements /dev/zero", file: nil, exit: 3,
		want: "larger than 16 MiB"},
	{name: "an endless device as a config", args: "check -f @route --config /dev/zero", file: nil, exit: 3,
		want: "larger than 16 MiB"},
	{name: "an endless device as descriptors", args: "effective -f @route --policy-kinds /dev/zero", file: nil,
		exit: 3, want: "larger than 16 MiB"},
	{name: "an endless device as a template", args: "effective -f @route -o go-template-file=/dev/zero", file: nil,
		exit: 3, want: "larger than 16 MiB"},
	{name: "an endless device as tests", args: "check test /dev/zero", file: nil, exit: 3, want: "larger than 16 MiB"},
	{name: "an endless device as requests", args: "request -f @route --requests-file /dev/zero", file: nil, exit: 3,
		want: "reading requests"},
	{name: "a device in a config", args: "check -f @route --config @file", file: text("requirements: [/dev/zero]\n"),
		exit: 3, want: "only the command line can name files elsewhere"},
	{name: "a device in a test", args: "check test @file",
		file: text(
			"apiVersion: dopolicy.dev/v1alpha1\nkind: RequirementTest\nrequirements: [/dev/zero]\ntests:\n- {name: x, files: [/dev/zero]}\n"), exit: 3, want: "only the command line can name files elsewhere"},
	{name: "megabytes of zipped spaces", args: "effective -f @file", file: zipped([]byte(" "), 512<<20), exit: 3,
		want: "200 times its size"},
	{name: "megabytes of zipped nothing", args: "effective -f @file", file: zipped([]byte{0}, 512<<20), exit: 3,
		want: "no document could be read"},
	{name: "an archive of many entries", args: "effective -f @file", file: zipped(entry(), 500_000), exit: 3,
		want: "more than 100000 entries"},
	{name: "lists within lists", args: "effective -f @file", file: text("a: " + strings.Repeat("[", 100_000)), exit: 3,
		want: "nested deeper than 100"},
	{name: "lists within lists in JSON", args: "effective -f @file", file: text(strings.Repeat("[", 200_000) +
		strings.Repeat("]", 200_000)), exit: 3, want: "nested deeper than 100"},
	{name: "many small documents", args: "effective -f @file", file: repeated("---\na: 1\n", 200_000), exit: 3,
		want: "neither apiVersion nor kind"},
	{name: "many empty documents", args: "effective -f @file", file: repeated("---\n{}\n", 1_600_000), exit: 3,
		want: "no document could be read"},
	{name: "many documents in flow style", args: "effective -f @file", file: repeated("---\n{a}\n", 1_000_000),
		exit: 3, want: "neither apiVersion nor kind"},
	{name: "many JSON values", args: "effective -f @file", file: repeated("{\"a\":1}\n", 1_400_000), exit: 3,
		want: "neither apiVersion nor kind"},
	{name: "many JSON documents", args: "effective -f @file", file: repeated("---\n{\"a\":1}\n", 900_000), exit: 3,
		want: "neither apiVersion nor kind"},
	{name: "broken documents", args: "check -f @file", file: repeated("---\n"+strings.Repeat("a: b\n", 60_000)+"c: [\n", 34),
		exit: 3, want: "did not find expected node content"},
	{name: "a map of a million entries", args: "check -f @file", file: million("\n", "  k%d: v\n", ""), exit: 0,
		want: "1 note in 1 object"},
	{name: "a map of a million entries in flow style", args: "check -f @file", file: million("{", "k%d: v,", "}"),
		exit: 0, want: "1 note in 1 object"},
	{name: "a map of two million entries", args: "check -f @file",
		file: func() []byte { return []byte("a: {" + strings.Repeat("b: c,", 2_100_000) + "}") },
		exit: 3, want: "more than 4000000 keys and values"},
	{name: "a document beyond a limit that is asked for", args: "check -f @file --max-document 1Mi",
		file: million("\n", "  k%d: v\n", ""), exit: 3, want: "larger than 1048576 bytes"},
	{name: "an input beyond a limit that is asked for", args: "check -f @file --max-input 1Mi",
		file: million("\n", "  k%d: v\n", ""), exit: 3, want: "--max-input"},
	{name: "equal patterns", args: "check -f @file", file: patterned(10_000), exit: 1, want: "SchemaViolation"},
	{name: "unique items", args: "check -f @file", file: definition("", "uniqueItems: true", "{a: x}", 30_000),
		want: "more than 200000000 steps"},
	{name: "matrices of matrices", args: "effective -R -f @file", file: matrices(8, 1000), exit: 0,
		want: "more than 5000000 values to make its Applications"},
	{name: "a large pattern", args: "check -f @file", file: definition("pattern: '^(a?){500}a{500}$'", "",
		strings.Repeat("a", 1000), 2_000), want: "more than 200000000 steps"},
	{name: "rules within rules", args: "check -f @file",
		file: definition("",
			"x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, self.all(z, x + y + z != \"\")))'}]", "v",
			5_000), want: "evaluating them takes more than 5000000 steps"},
}

// listFileAttacks lists the attacks of one file, and those of servers.
func listFileAttacks() []attack {
	return slices.Concat(attacks, celAttacks, schemaAttacks, dumpAttacks, answerAttacks, serverAttacks)
}

func TestAttacks(t *testing.T) {
	folder := t.TempDir()
	routeFile := filepath.Join(folder, "route.yaml")
	if err := os.WriteFile(routeFile, []byte(route), 0o600); err != nil {
		t.Fatal(err)
	}
	servedFile := filepath.Join(folder, "served.yaml")
	if err := os.WriteFile(servedFile, []byte(served), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, a := range listFileAttacks() {
		t.Run(a.name, func(t *testing.T) {
			file := filepath.Join(folder, fmt.Sprintf("%d.yaml", i))
			if a.file != nil {
				if err := os.WriteFile(file, a.file(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cluster := ""
			if a.serve != nil {
				cluster = kubeconfig(t, a.serve())
			}
			args := strings.Fields(strings.NewReplacer("@file", file, "@route", routeFile, "@served", servedFile,
				"@cluster", cluster).Replace(a.args))
			run(t, a, args)
		})
	}
}

// run runs the program, and sees to it that it ends as it should. What it takes depends on what
// else the machine does, above all how far collecting garbage falls behind: too much counts if it
// is too much every time.
func run(t *testing.T, a attack, args []string) {
	t.Helper()
	var excess []string
	for len(excess) < 3 {
		state, said := once(t, args)
		if state == nil || state.ExitCode() != a.exit || !strings.Contains(said, a.want) {
			t.Errorf("%v, want exit %d and %q: %.500s", state, a.exit, a.want, said)
			return
		}
		took := state.UserTime() + state.SystemTime()
		usage, measured := state.SysUsage().(*syscall.Rusage)
		if took <= mostTime && (!measured || usage.Maxrss <= mostMemory) {
			return
		}
		excess = append(excess, fmt.Sprintf("took %s of processor time and %d MiB", took, usage.Maxrss>>10))
	}
	t.Error(strings.Join(excess, "; "))
}

// once runs the program and returns how it ended and what it said.
func once(t *testing.T, args []string) (*os.ProcessState, string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 6*mostTime) // a run that has to be killed has failed
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	said, _ := cmd.CombinedOutput()
	return cmd.ProcessState, string(said)
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
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10),
			", "))
	}
	return text(b.String())
}

// million is a ConfigMap with a million entries.
func million(open, entry, end string) func() []byte {
	return func() []byte {
		var b bytes.Buffer
		b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: " + open)
		for i := range 1_000_000 {
			fmt.Fprintf(&b, entry, i)
		}
		b.WriteString(end)
		return b.Bytes()
	}
}

// patterned is a kind with many fields that have one pattern, which is costly to compile, and an
// object of it.
func patterned(n int) func() []byte {
	return func() []byte {
		text := string(definition("", "", "x", 0)())
		head, object, _ := strings.Cut(text, "\n---\napiVersion: example.com")
		var fields, values strings.Builder
		for i := range n {
			fmt.Fprintf(&fields, "              f%d: {type: string, pattern: '^(a?){500}a{500}$'}\n", i)
			fmt.Fprintf(&values, "  f%d: x\n", i)
		}
		head = strings.Replace(head, "              list:\n", fields.String()+"              list:\n", 1)
		return []byte(head + "\n---\napiVersion: example.com" + strings.Replace(object, "  list:\n",
			values.String(), 1))
	}
}

// definition is a kind whose objects have a list of items, with what the schema says of an item and
// of the list, and one such object.
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

// matrices is an ApplicationSet that makes nothing of so many elements to the power of its depth.
func matrices(deep, elements int) func() []byte {
	list := "{list: {elements: [" + strings.Repeat("{a: b}, ", elements) + "]}}"
	return text(route +
		"---\napiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s, namespace: argocd}\nspec:\n  generators: [" +
		strings.Repeat("{matrix: {generators: ["+list+", ", deep) + "{list: {elements: []}}" + strings.Repeat("]}}",
		deep) + "]\n  template: {metadata: {name: a}}\n")
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
