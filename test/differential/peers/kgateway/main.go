// Command kgateway answers inputs with kgateway's translator: what every route of Envoy is set up with, and the statuses of policies. It reads
// an input a line and writes an answer a line; both are described in input.go and peer.go of the comparison.
package main

import (
	"encoding/json"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	"github.com/kgateway-dev/kgateway/v2/test/cmd/dopolicy-peer/translate"
	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

func main() {
	translate.Quiet()
	scheme := translator.NewScheme(nil)
	serve.Answers(func(line []byte) (map[string]string, error) {
		var in struct {
			Objects  []json.RawMessage
			Settings map[string]string
		}
		if err := json.Unmarshal(line, &in); err != nil {
			return nil, err
		}
		results, err := translate.Objects(in.Objects, in.Settings, scheme)
		if err != nil {
			return nil, err
		}
		return factsOf(results)
	})
}
