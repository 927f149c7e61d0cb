// Package metrics reads what the program counts with the parsers of Prometheus, holds it against the program's JSON, and checks the alerts and
// the dashboard of deploy/metrics. It is a module of its own, so that its dependencies are not those of the program.
package metrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

const root = "../.."

// program is where the program is built.
var program string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "dopolicy-metrics-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "kubectl-dopolicy")
	build := exec.Command("go", "build", "-tags", "kustomize_disable_go_plugin_support", "-o", program, "./cmd/kubectl-dopolicy")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		return 1
	}
	return m.Run()
}

// run returns what the program writes to stdout, and its exit code.
func run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
	case err != nil:
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		return out.String(), code
	}
	t.Fatalf("%q: %s", args, problems.String())
	return "", 0
}

// answer is what the tests look at of answers in JSON.
type answer struct {
	Complete  bool
	Problems  []map[string]any
	Summary   struct{ Error, Warning, Info, Suppressed int }
	Counts    []count
	Idle      []any
	Items     []map[string]any
	Ingresses []struct{ Authentication struct{ Verdict string } }
}

// count is a count of a matrix.
type count struct {
	PolicyKind                               string
	Missing, Unknown, InForce, NotApplicable int
}

// ask returns the answer of a command in JSON.
func ask(t *testing.T, args ...string) (answer, int) {
	t.Helper()
	out, code := run(t, append(args, "-o", "json")...)
	var got answer
	if err := json.Unmarshal([]byte(out), &got); err != nil && code != 3 {
		t.Fatalf("%q: %v", args, err)
	}
	return got, code
}

// sample is one series with its value.
type sample struct {
	labels labels.Labels
	value  float64
}

// exposition is what was read, by the name of the metric.
type exposition map[string][]sample

// count returns the metrics that a command writes.
func countMetrics(t *testing.T, args ...string) (exposition, int) {
	t.Helper()
	out, code := run(t, append(args, "-o", "openmetrics")...)
	if code == 3 {
		if out != "" {
			t.Errorf("%q: no answer, and yet %q", args, out)
		}
		return nil, code
	}
	return parse(t, out), code
}

// parse reads a text as OpenMetrics and as the older text format: both must say the same.
func parse(t *testing.T, text string) exposition {
	t.Helper()
	if !strings.HasSuffix(text, "\n# EOF\n") {
		t.Fatalf("no end: %.200s", text[max(0, len(text)-200):])
	}
	out, types, seen := exposition{}, map[string]model.MetricType{}, map[string]bool{}
	p := textparse.NewOpenMetricsParser([]byte(text), labels.NewSymbolTable())
	last := ""
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("OpenMetrics: %v\n%s", err, text)
		}
		switch entry {
		case textparse.EntryType:
			name, kind := p.Type()
			types[string(name)] = kind
		case textparse.EntrySeries:
			var l labels.Labels
			_, at, value := p.Series()
			p.Labels(&l)
			name := l.Get(labels.MetricName)
			if at != nil || types[name] != model.MetricTypeGauge {
				t.Errorf("%s is of type %q, at %v", l, types[name], at)
			}
			if seen[l.String()] || name < last {
				t.Errorf("%s is there twice, or not among the others of its family", l)
			}
			seen[l.String()], last = true, name
			out[name] = append(out[name], sample{l, value})
		}
	}
	old := expfmt.NewTextParser(model.UTF8Validation)
	families, err := old.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("text format: %v\n%s", err, text)
	}
	for name, f := range families {
		if len(f.Metric) != len(out[name]) || f.GetHelp() == "" {
			t.Errorf("%s: %d series in the text format, %d in OpenMetrics, help %q", name, len(f.Metric), len(out[name]), f.GetHelp())
			continue
		}
		for i, m := range f.Metric {
			for _, pair := range m.Label {
				if got := out[name][i].labels.Get(pair.GetName()); got != pair.GetValue() {
					t.Errorf("%s: %q in OpenMetrics is %q in the text format", name, got, pair.GetValue())
				}
			}
		}
	}
	return out
}

// sum adds up the series of a metric that have these labels, given as name and value in turn.
func (e exposition) sum(metric string, with ...string) int {
	out := 0.0
	for _, s := range e[metric] {
		fits := true
		for i := 0; i < len(with); i += 2 {
			fits = fits && s.labels.Get(with[i]) == with[i+1]
		}
		if fits {
			out += s.value
		}
	}
	return int(out)
}
