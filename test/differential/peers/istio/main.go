// Command istio answers inputs with Istio's control plane: what it makes of its policies for every workload, Gateway and Service behind a
// waypoint. It is built in a copy of Istio's module, because the code that it asks lies in internal packages and in packages for tests. It reads
// an input a line and writes an answer a line; both are described in the folder above, in input.go and program/process.go.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
)

func main() {
	if err := ambient(); err != nil {
		fmt.Fprintln(os.Stderr, "istio peer:", err)
		os.Exit(1)
	}
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	serve.Answers(func(line []byte) (map[string]string, error) {
		facts, err := answer(line)
		if err != nil {
			why, _, _ := strings.Cut(err.Error(), ": {") // the objects come after it
			err = errors.New(why)
		}
		return facts, err
	})
}

// ambient starts the program again with ambient mode, which Istio asks of the environment before main.
func ambient() error {
	const name = "PILOT_ENABLE_AMBIENT"
	if os.Getenv(name) == "true" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), name+"=true"))
}

// answer answers one input. A panic of the code that is asked is an input that it refuses.
func answer(line []byte) (facts, error) {
	var in struct{ Objects []manifest }
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	var out facts
	var failed error
	err := test.Wrap(func(t test.Failer) {
		defer func() {
			if p := recover(); p != nil {
				failed = fmt.Errorf("panic: %v", p)
			}
		}()
		var w *world
		if w, failed = start(t, in.Objects); failed == nil {
			out = w.facts(in.Objects)
		}
	})
	if failed != nil {
		err = failed
	}
	return out, err
}
