package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kuadrant/policy-machinery/machinery"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// gatewayObjects are the decoded manifests.
type gatewayObjects struct {
	classes  []*gwapiv1.GatewayClass
	gateways []*gwapiv1.Gateway
	routes   []*gwapiv1.HTTPRoute
	policies []machinery.Policy
}

// topology builds the graph of everything, with listeners and route rules as targets of their own.
func (o *gatewayObjects) topology() (*machinery.Topology, error) {
	return machinery.NewGatewayAPITopology(
		machinery.WithGatewayClasses(o.classes...),
		machinery.WithGateways(o.gateways...),
		machinery.WithHTTPRoutes(o.routes...),
		machinery.ExpandGatewayListeners(),
		machinery.ExpandHTTPRouteRules(),
		machinery.WithGatewayAPITopologyPolicies(o.policies...),
	)
}

// decode reads manifests into the Go types of the Gateway API.
func decode(name string) (*gatewayObjects, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	objects := &gatewayObjects{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(f))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if err := objects.add(text); err != nil {
			return nil, err
		}
	}
}

func (o *gatewayObjects) add(text []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(text, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "GatewayClass":
		class := &gwapiv1.GatewayClass{}
		o.classes = append(o.classes, class)
		return yaml.UnmarshalStrict(text, class)
	case "Gateway":
		gateway := &gwapiv1.Gateway{}
		o.gateways = append(o.gateways, gateway)
		return yaml.UnmarshalStrict(text, gateway)
	case "HTTPRoute":
		route := &gwapiv1.HTTPRoute{}
		o.routes = append(o.routes, route)
		return yaml.UnmarshalStrict(text, route)
	case policyKind:
		policy := &authPolicy{}
		o.policies = append(o.policies, policy)
		return yaml.UnmarshalStrict(text, policy)
	}
	return fmt.Errorf("kind %q is not part of the comparison", head.Kind)
}
