// Command kgateway translates inputs with kgateway's translator: what it tells the Envoy of every Gateway. It reads an input a line and writes an
// answer a line, as README.md of test/proxies says.
package main

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve/defaults"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve/envoy"
	"github.com/kgateway-dev/kgateway/v2/test/cmd/dopolicy-peer/translate"
	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

func main() {
	translate.Quiet()
	scheme := translator.NewScheme(nil)
	serve.Answers(func(line []byte) (map[string]string, error) {
		var in struct{ Objects []map[string]any }
		if err := json.Unmarshal(line, &in); err != nil {
			return nil, err
		}
		var objects []json.RawMessage
		for _, o := range in.Objects {
			if err := defaults.Fill(o); err != nil {
				return nil, err
			}
			text, err := json.Marshal(o)
			if err != nil {
				return nil, err
			}
			objects = append(objects, text)
		}
		results, err := translate.Objects(objects, nil, scheme)
		if err != nil {
			return nil, err
		}
		return factsOf(results, objects)
	})
}

// factsOf reads what the proxies are told.
func factsOf(all translate.Results, objects []json.RawMessage) (map[string]string, error) {
	facts := map[string]string{}
	for gateway, result := range all {
		clusters := append(result.Clusters, result.Proxy.ExtraClusters...)
		assignments, err := endpoints(clusters, objects)
		if err != nil {
			return nil, err
		}
		config := envoy.Config{
			Listeners: written(result.Proxy.Listeners), Routes: written(result.Proxy.Routes), Clusters: written(clusters),
			Endpoints: written(assignments), Secrets: written(result.Proxy.Secrets),
		}
		if err := config.Note(facts, gateway.String()); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// written writes messages in protojson form.
func written[M proto.Message](all []M) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range all {
		text, err := protojson.Marshal(m)
		if err != nil {
			panic(err) // of an extension that is not linked in
		}
		out = append(out, text)
	}
	return out
}
