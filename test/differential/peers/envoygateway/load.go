package main

import (
	"encoding/json"
	"errors"
	"fmt"

	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/internal/envoygateway"
	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
	gwapiv1b1 "sigs.k8s.io/gateway-api/apis/v1beta1"
)

// controllerName is that of Envoy Gateway. The translator reads one GatewayClass; classes of other controllers are none of its business.
const controllerName = "gateway.envoyproxy.io/gatewayclass-controller"

// load reads the objects as the file provider does, validated and with the defaults of the API. Unlike the file provider it keeps the labels
// and the ages of objects, as the provider for Kubernetes does.
func load(objects []json.RawMessage) (*resource.Resources, error) {
	out := resource.NewResources()
	for _, text := range objects {
		typed, err := decoded(text)
		if err == nil {
			err = place(out, typed)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", text, err)
		}
	}
	if out.GatewayClass == nil {
		return nil, errors.New("there is no GatewayClass")
	}
	out.Sort()
	return out, nil
}

// decoded is an object as the API server would hand it out.
func decoded(text []byte) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &o.Object); err != nil {
		return nil, err
	}
	kind := o.GroupVersionKind()
	if kind.Group == egv1a1.GroupName || kind.Group == gwapiv1.GroupName {
		if err := resource.GetDefaultValidator().Validate(text); err != nil {
			return nil, err
		}
		var err error
		if o, err = resource.GetGatewaySchemaDefaulter().ApplyDefault(o); err != nil {
			return nil, err
		}
		delete(o.Object, "status") // of what is created the API server fills in what the controller has yet to say
	}
	typed, err := envoygateway.GetScheme().New(kind)
	if err != nil {
		return nil, err
	}
	if err := envoygateway.GetScheme().Convert(o, typed, nil); err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(kind)
	return typed, nil
}

// place puts an object where the translator looks for it.
func place(out *resource.Resources, o runtime.Object) error {
	switch o := o.(type) {
	case *gwapiv1.GatewayClass:
		if o.Spec.ControllerName == controllerName {
			out.GatewayClass = o
		}
	case *egv1a1.EnvoyProxy:
		out.EnvoyProxyForGatewayClass = o
	case *gwapiv1.Gateway:
		out.Gateways = append(out.Gateways, o)
	case *gwapiv1.ListenerSet:
		out.ListenerSets = append(out.ListenerSets, o)
	case *gwapiv1.HTTPRoute:
		out.HTTPRoutes = append(out.HTTPRoutes, o)
	case *gwapiv1.GRPCRoute:
		out.GRPCRoutes = append(out.GRPCRoutes, o)
	case *gwapiv1.TLSRoute:
		out.TLSRoutes = append(out.TLSRoutes, o)
	case *gwapiv1.TCPRoute:
		out.TCPRoutes = append(out.TCPRoutes, o)
	case *gwapiv1.UDPRoute:
		out.UDPRoutes = append(out.UDPRoutes, o)
	case *gwapiv1b1.ReferenceGrant:
		out.ReferenceGrants = append(out.ReferenceGrants, o)
	case *gwapiv1.BackendTLSPolicy:
		out.BackendTLSPolicies = append(out.BackendTLSPolicies, o)
	case *egv1a1.Backend:
		out.Backends = append(out.Backends, o)
	case *egv1a1.ClientTrafficPolicy:
		out.ClientTrafficPolicies = append(out.ClientTrafficPolicies, o)
	case *egv1a1.BackendTrafficPolicy:
		out.BackendTrafficPolicies = append(out.BackendTrafficPolicies, o)
	case *egv1a1.SecurityPolicy:
		out.SecurityPolicies = append(out.SecurityPolicies, o)
	case *egv1a1.EnvoyExtensionPolicy:
		out.EnvoyExtensionPolicies = append(out.EnvoyExtensionPolicies, o)
	case *corev1.Namespace:
		out.Namespaces = append(out.Namespaces, o)
	case *corev1.Service:
		out.Services = append(out.Services, o)
	case *corev1.Secret:
		out.Secrets = append(out.Secrets, o)
	case *corev1.ConfigMap:
		out.ConfigMaps = append(out.ConfigMaps, o)
	default:
		return fmt.Errorf("%T is not part of the comparison", o)
	}
	return nil
}
