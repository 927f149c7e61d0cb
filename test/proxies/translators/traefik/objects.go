package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	gatev1 "sigs.k8s.io/gateway-api/apis/v1"
	gatev1beta1 "sigs.k8s.io/gateway-api/apis/v1beta1"
	gatefake "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/fake"
	"sigs.k8s.io/yaml"
)

// definitionsText are the CustomResourceDefinitions that the module tests itself with. The build puts the file here.
//
//go:embed definitions.yml
var definitionsText []byte

// objects are those that the provider reads, as the API server hands them out.
type objects struct {
	kube     []runtime.Object
	other    []runtime.Object
	gateways []*gatev1.Gateway
	slices   []*discoveryv1.EndpointSlice
	http     []*gatev1.HTTPRoute
	grpc     []*gatev1.GRPCRoute
}

// read reads the objects of a world. What the provider does not read is left out.
func read(texts []json.RawMessage) (*objects, error) {
	out := &objects{}
	for _, text := range texts {
		if err := out.add(text); err != nil {
			return nil, fmt.Errorf("reading %s: %w", text, err)
		}
	}
	return out, nil
}

func (o *objects) add(text []byte) error {
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	kind, _ := tree["kind"].(string)
	if schema, ok := schemas()[kind]; ok {
		fillIn(tree, schema)
		var err error
		if text, err = json.Marshal(tree); err != nil {
			return err
		}
	}
	switch kind {
	case "Namespace":
		return addTo(&o.kube, text, &corev1.Namespace{})
	case "Secret":
		return addTo(&o.kube, text, &corev1.Secret{})
	case "Service":
		s := &corev1.Service{}
		if err := addTo(&o.kube, text, s); err != nil {
			return err
		}
		for i := range s.Spec.Ports {
			if s.Spec.Ports[i].Protocol == "" {
				s.Spec.Ports[i].Protocol = corev1.ProtocolTCP
			}
		}
	case "EndpointSlice":
		s := &discoveryv1.EndpointSlice{}
		if err := addTo(&o.kube, text, s); err != nil {
			return err
		}
		for i := range s.Ports {
			if s.Ports[i].Name == nil {
				s.Ports[i].Name = new(string)
			}
		}
		o.slices = append(o.slices, s)
	case "GatewayClass":
		return addTo(&o.other, text, &gatev1.GatewayClass{})
	case "Gateway":
		g := &gatev1.Gateway{}
		o.gateways = append(o.gateways, g)
		return json.Unmarshal(text, g)
	case "HTTPRoute":
		r := &gatev1.HTTPRoute{}
		o.http = append(o.http, r)
		return addTo(&o.other, text, r)
	case "GRPCRoute":
		r := &gatev1.GRPCRoute{}
		o.grpc = append(o.grpc, r)
		return addTo(&o.other, text, r)
	case "ReferenceGrant":
		return addTo(&o.other, text, &gatev1beta1.ReferenceGrant{})
	}
	return nil
}

func addTo[T runtime.Object](to *[]runtime.Object, text []byte, into T) error {
	*to = append(*to, into)
	return json.Unmarshal(text, into)
}

// clients are clients that hand out the objects.
func (o *objects) clients(ctx context.Context) (*kubefake.Clientset, *gatefake.Clientset, error) {
	gateways := gatefake.NewSimpleClientset(o.other...)
	for _, g := range o.gateways { // the client guesses a wrong plural for those that it is made with
		if _, err := gateways.GatewayV1().Gateways(g.Namespace).Create(ctx, g, metav1.CreateOptions{}); err != nil {
			return nil, nil, err
		}
	}
	return kubefake.NewSimpleClientset(o.kube...), gateways, nil
}

// services are the Services by the addresses of their endpoints.
func (o *objects) services() map[string]string {
	out := map[string]string{}
	for _, s := range o.slices {
		for _, e := range s.Endpoints {
			for _, address := range e.Addresses {
				out[address] = s.Namespace + "/" + s.Labels[discoveryv1.LabelServiceName]
			}
		}
	}
	return out
}

// ports are the ports of all listeners.
func (o *objects) ports() []gatev1.PortNumber {
	var out []gatev1.PortNumber
	for _, g := range o.gateways {
		for _, l := range g.Spec.Listeners {
			out = append(out, l.Port)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// schemas are the OpenAPI schemas of the Gateway API by kind, of the version that is stored.
var schemas = sync.OnceValue(func() map[string]map[string]any {
	out := map[string]map[string]any{}
	for text := range bytes.SplitSeq(definitionsText, []byte("\n---\n")) {
		var d struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Storage bool
					Schema  struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		if !strings.Contains(string(text), "kind: CustomResourceDefinition") {
			continue
		}
		if err := yaml.Unmarshal(text, &d); err != nil {
			panic(err) // of a file of the build
		}
		for _, v := range d.Spec.Versions {
			if v.Storage {
				out[d.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema
			}
		}
	}
	return out
})

// fillIn fills in the defaults of a schema, as the API server does.
func fillIn(v any, schema map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, of := range properties {
			of, _ := of.(map[string]any)
			inner, has := v[name]
			if value, ok := of["default"]; !has && ok {
				inner, has = copied(value), true
				v[name] = inner
			}
			if has {
				fillIn(inner, of)
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, inner := range v {
			fillIn(inner, items)
		}
	}
}

// copied is a deep copy of a tree.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			out[key] = copied(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = copied(inner)
		}
		return out
	}
	return v
}
