// Command envoygateway answers inputs with the translator of Envoy Gateway: the conditions that it writes, and the settings of the proxies that
// it derives from routes and policies. It reads an input a line and writes an answer a line; both are described in the folder above, in input.go and
// program/process.go. It is built inside the module of Envoy Gateway.
package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/cmd/dopolicy-peer/load"
	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/logging"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func main() {
	serve.Answers(func(line []byte) (map[string]string, error) { return answer(line) })
}

// answer answers one input.
func answer(line []byte) (facts, error) {
	var in struct{ Objects []json.RawMessage }
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	resources, err := load.Objects(in.Objects)
	if err != nil {
		return nil, err
	}
	t := &gatewayapi.Translator{
		GatewayControllerName:   string(resources.GatewayClass.Spec.ControllerName),
		GatewayClassName:        gwapiv1.ObjectName(resources.GatewayClass.Name),
		GlobalRateLimitEnabled:  true,
		EndpointRoutingDisabled: true, // the addresses of Services are enough here
		BackendEnabled:          true,
		ControllerNamespace:     "envoy-gateway-system",
		MergeGateways:           gatewayapi.IsMergeGatewaysEnabled(resources),
		Logger:                  logging.DefaultLogger(io.Discard, egv1a1.LogLevelError),
	}
	// What is wrong with a policy or a route is in its status.
	result, _ := t.Translate(context.Background(), resources)
	out := facts{}
	out.statuses(&result.Resources)
	if err := out.settings(result.XdsIR, policyNames(resources)); err != nil {
		return nil, err
	}
	return out, nil
}
