package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"go.yaml.in/yaml/v3"
)

// A side is one of the things compared: a program that is started anew for every run, with the file of the manifests and the file to
// write its answer to as arguments. It writes a measurement to standard output as JSON.
//
// An answer has one line for each path from a gateway down to a route rule on which a policy is in force, sorted:
//
//	GATEWAY LISTENER ROUTE RULE<tab>NAME=POLICY:VALUE<tab>NAME=POLICY:VALUE…
//
// with objects as namespace/name, and the settings in force by name, each with the policy it comes from and its value as JSON.

// measurement is what one run took.
type measurement struct {
	Parts []part `json:"parts"` // in the order in which they were done

	peak int64 // bytes of memory at most; 0: the system does not tell
}

type part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// The parts, by what they are counted in. All sides decode the manifests first.
var (
	decoding = []string{"decode"}
	// counted is what engines are compared by: the graph, and the effective policy of every rule on every path.
	counted = []string{"graph", "effective", "topology", "attach", "fold", "paths"}
	// answering is what follows decoding in the program, where the view finds the paths.
	answering = []string{"topology", "attach", "fold", "view"}
	// parts are the columns of the program's own time.
	parts = slices.Concat(decoding, answering)
)

// seconds is what the named parts took together.
func (m *measurement) seconds(names []string) float64 {
	sum := 0.0
	for _, p := range m.Parts {
		if slices.Contains(names, p.Name) {
			sum += p.Seconds
		}
	}
	return sum
}

// stopwatch measures parts that follow each other.
type stopwatch struct {
	parts []part
	start time.Time
}

func newStopwatch() *stopwatch { return &stopwatch{start: time.Now()} }

func (s *stopwatch) lap(name string) {
	now := time.Now()
	s.parts = append(s.parts, part{name, now.Sub(s.start).Seconds()})
	s.start = now
}

// collect collects the garbage of the part before, which is not measured: whether it is collected in the next one is chance.
func (s *stopwatch) collect() {
	runtime.GC()
	s.start = time.Now()
}

// sideEnv names the side that a process of this program is to be; without it the process is the one that compares.
const sideEnv = "DOPOLICY_BENCH_SIDE"

// sides are those that are this program itself.
var sides = map[string]func(manifests, answer string) ([]part, error){
	"engine": runEngine,
	"merge":  runMerge,
	"nodes":  decodeNodes,
	"load":   loadOnly,
}

// runSide is the whole life of a process that is a side, and returns its exit code.
func runSide(name string, args []string, out io.Writer) int {
	side, known := sides[name]
	if !known || len(args) != 2 {
		fmt.Fprintf(os.Stderr, "%s: no such side, or not two arguments\n", name)
		return 2
	}
	parts, err := side(args[0], args[1])
	if err == nil {
		err = json.NewEncoder(out).Encode(measurement{Parts: parts})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, err)
		return 1
	}
	return 0
}

// loadOnly reads the manifests as the program does, and does nothing with them.
func loadOnly(manifests, _ string) ([]part, error) {
	watch := newStopwatch()
	if _, err := load.Files(context.Background(), load.Options{Paths: []string{manifests}}); err != nil {
		return nil, err
	}
	watch.lap("decode")
	return watch.parts, nil
}

// decodeNodes decodes every document into YAML nodes and keeps none of them: the least that reading manifests can cost.
func decodeNodes(manifests, _ string) ([]part, error) {
	watch := newStopwatch()
	f, err := os.Open(manifests)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	watch.lap("decode")
	return watch.parts, nil
}

// command starts a side. One processor is what GOMAXPROCS says, so that work done side by side is not hidden.
type command struct {
	side       string // of this program; "" if path is another one
	path       string
	processors int // 0: all
}

// garbage has every side collect its garbage seldom.
const garbage = "GOGC=400"

// run runs the side once.
func (c command) run(ctx context.Context, args ...string) (measurement, error) {
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Env = append(os.Environ(), sideEnv+"="+c.side, garbage)
	if c.processors > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", c.processors))
	}
	var out, failed strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return measurement{}, fmt.Errorf("%s: %w: %s", c.name(), err, strings.TrimSpace(failed.String()))
	}
	m := measurement{peak: peak(cmd.ProcessState)}
	if err := json.Unmarshal([]byte(out.String()), &m); err != nil {
		return measurement{}, fmt.Errorf("%s: reading what it measured: %w", c.name(), err)
	}
	return m, nil
}

func (c command) name() string {
	if c.side != "" {
		return c.side
	}
	return c.path
}

// peak is the most memory that a process had in use at one time. A process starts with the size of the one that started it, so this
// program keeps nothing large.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}
