// Package load reads objects for the translator of Envoy Gateway, as its provider would. It is built inside the module of Envoy Gateway.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	gateway "github.com/envoyproxy/gateway"
	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/internal/envoygateway"
	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
	gwapiv1b1 "sigs.k8s.io/gateway-api/apis/v1beta1"
	"sigs.k8s.io/yaml"
)

// controllerName is that of Envoy Gateway. The translator reads one GatewayClass; classes of other controllers are none of its business.
const controllerName = "gateway.envoyproxy.io/gatewayclass-controller"

// Objects reads the objects as the API server hands them out, validated and with the defaults of the definitions that the release has.
func Objects(objects []json.RawMessage) (*resource.Resources, error) {
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
	// As the provider does, which reads the listener sets of the Gateways that it manages.
	out.ListenerSets = slices.DeleteFunc(out.ListenerSets, func(set *gwapiv1.ListenerSet) bool {
		return !slices.ContainsFunc(out.Gateways, func(g *gwapiv1.Gateway) bool {
			return string(g.Spec.GatewayClassName) == out.GatewayClass.Name && string(set.Spec.ParentRef.Name) == g.Name &&
				gatewayapi.NamespaceDerefOr(set.Spec.ParentRef.Namespace, set.Namespace) == g.Namespace
		})
	})
	out.Sort()
	return out, nil
}

// definition is what objects of a kind are judged by.
type definition struct {
	schema *structural.Structural
	fields validation.SchemaValidator
	rules  *cel.Validator
}

// definitions are those of the release. The validator and the defaulter of the file provider read them again for every object, which takes most
// of the time that an input takes.
var definitions = sync.OnceValue(func() map[schema.GroupVersionKind]definition {
	out := map[schema.GroupVersionKind]definition{}
	err := resource.IterYAMLBytes(gateway.GatewayCRDs, func(text []byte) error {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil || crd.Kind != "CustomResourceDefinition" {
			return err
		}
		for _, v := range crd.Spec.Versions {
			var internal apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
				return err
			}
			s, err := structural.NewStructural(&internal)
			if err != nil {
				return err
			}
			fields, _, err := validation.NewSchemaValidator(&internal)
			if err != nil {
				return err
			}
			out[schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = definition{s, fields, cel.NewValidator(s, true, celconfig.PerCallLimit)}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return out
})

// judge fills in defaults and validates, as the API server does.
func (d definition) judge(o map[string]any) error {
	defaulting.Default(o, d.schema)
	errs := validation.ValidateCustomResource(nil, o, d.fields)
	if len(errs) == 0 {
		errs, _ = d.rules.Validate(context.Background(), nil, d.schema, o, nil, celconfig.RuntimeCELCostBudget)
	}
	return errs.ToAggregate()
}

// decoded is an object as the API server would hand it out.
func decoded(text []byte) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	kind := o.GroupVersionKind()
	if kind.Group == egv1a1.GroupName || kind.Group == gwapiv1.GroupName {
		definition, ok := definitions()[kind]
		if !ok {
			return nil, fmt.Errorf("there is no definition of %s", kind)
		}
		if err := definition.judge(o.Object); err != nil {
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
	case *discoveryv1.EndpointSlice:
		out.EndpointSlices = append(out.EndpointSlices, o)
	case *egv1a1.HTTPRouteFilter:
		out.HTTPRouteFilters = append(out.HTTPRouteFilters, o)
	case *corev1.Secret:
		out.Secrets = append(out.Secrets, o)
	case *corev1.ConfigMap:
		out.ConfigMaps = append(out.ConfigMaps, o)
	default:
		return fmt.Errorf("%T is not part of the comparison", o)
	}
	return nil
}
