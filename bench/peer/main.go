// Command peer builds a topology with policy-machinery and computes every effective policy with it. It is started by the command
// in the folder above and takes two arguments: the file with the manifests, and the file to write the answer to. What it measured
// goes to standard output as JSON. Both formats are described there, in side.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: peer MANIFESTS ANSWER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

// part is one measured part of the work.
type part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

func run(manifests, answer string) error {
	var parts []part
	start := time.Now()
	lap := func(name string) {
		parts = append(parts, part{name, time.Since(start).Seconds()})
		start = time.Now()
	}
	objects, err := decode(manifests)
	if err != nil {
		return fmt.Errorf("reading %s: %w", manifests, err)
	}
	lap("decode")
	runtime.GC() // as on the other side: the garbage of reading is not measured
	start = time.Now()
	topology, err := objects.topology()
	if err != nil {
		return fmt.Errorf("building the topology: %w", err)
	}
	lap("graph")
	policies := effectivePolicies(topology)
	lap("effective")
	if err := writeAnswer(answer, policies); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"parts": parts})
}
