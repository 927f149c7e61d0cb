// Command istio translates inputs with Istio's control plane: what it tells the Envoy of every Gateway. It is built in a copy of Istio's module,
// because it uses packages that Istio's tests use. It reads an input a line and writes an answer a line, as README.md of test/proxies says.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve/defaults"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
)

func main() {
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

// answer answers one input. A panic of the code that is asked is an input that it refuses.
func answer(line []byte) (facts map[string]string, err error) {
	var in struct{ Objects []manifest }
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	for _, o := range in.Objects {
		if err := defaults.Fill(o); err != nil {
			return nil, err
		}
	}
	var failed error
	err = test.Wrap(func(t test.Failer) {
		defer func() {
			if p := recover(); p != nil {
				failed = fmt.Errorf("panic: %v", p)
			}
		}()
		facts, failed = translate(t, in.Objects)
	})
	return facts, errors.Join(failed, err)
}
