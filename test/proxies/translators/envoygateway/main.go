// Command envoygateway answers inputs with the translator of Envoy Gateway: what it tells the Envoy of each Gateway. It reads an input a line and
// writes an answer a line; README.md of test/proxies describes both. It is built inside the module of Envoy Gateway.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/encoding/protojson"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/cmd/dopolicy-peer/load"
	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/ir"
	"github.com/envoyproxy/gateway/internal/logging"
	"github.com/envoyproxy/gateway/internal/xds/translator"
)

func main() { serve.Answers(answer) }

// answer translates one input.
func answer(line []byte) (map[string]string, error) {
	var in struct{ Objects []json.RawMessage }
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	resources, err := load.Objects(in.Objects)
	if err != nil {
		return nil, err
	}
	t := &gatewayapi.Translator{
		GatewayControllerName: string(resources.GatewayClass.Spec.ControllerName),
		GatewayClassName:      gwapiv1.ObjectName(resources.GatewayClass.Name),
		BackendEnabled:        true,
		ControllerNamespace:   "envoy-gateway-system",
		MergeGateways:         gatewayapi.IsMergeGatewaysEnabled(resources),
		Logger:                logging.DefaultLogger(io.Discard, egv1a1.LogLevelError),
	}
	// What is wrong with a route is in its status, and what proxies are told then is here all the same.
	result, _ := t.Translate(context.Background(), resources)
	out := map[string]string{}
	for gateway, proxy := range result.XdsIR {
		if err := write(out, gateway, proxy); err != nil {
			return nil, fmt.Errorf("%s: %w", gateway, err)
		}
	}
	return out, nil
}

// write writes what the proxy of one Gateway is told.
func write(out map[string]string, gateway string, proxy *ir.Xds) error {
	t := &translator.Translator{ControllerNamespace: "envoy-gateway-system", FilterOrder: proxy.FilterOrder,
		Logger: logging.DefaultLogger(io.Discard, egv1a1.LogLevelError)}
	table, err := t.Translate(context.Background(), proxy)
	if err != nil { // the controller publishes nothing then
		out[gateway+":error"] = err.Error()
		return nil
	}
	for name, kind := range map[string]resourcev3.Type{"listeners": resourcev3.ListenerType, "routes": resourcev3.RouteType, "clusters": resourcev3.ClusterType,
		"endpoints": resourcev3.EndpointType, "secrets": resourcev3.SecretType} {
		list := []json.RawMessage{}
		for _, r := range table.XdsResources[kind] {
			text, err := protojson.Marshal(r)
			if err != nil {
				return err
			}
			list = append(list, text)
		}
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		out[gateway+":"+name] = string(text)
	}
	ports := map[string]int{}
	for _, l := range proxy.HTTP {
		ports[fmt.Sprint(l.ExternalPort)] = int(l.Port)
	}
	for _, l := range proxy.TCP {
		ports[fmt.Sprint(l.ExternalPort)] = int(l.Port)
	}
	text, err := json.Marshal(ports)
	out[gateway+":ports"] = string(text)
	return err
}
