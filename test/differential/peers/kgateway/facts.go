package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/kgateway-dev/kgateway/v2/pkg/kgateway/wellknown"
	"github.com/kgateway-dev/kgateway/v2/test/cmd/dopolicy-peer/translate"
	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

// factsOf reads what Envoy is told about each route of each Gateway, and what policies are told.
func factsOf(all translate.Results) (map[string]string, error) {
	routes := map[string][]string{}
	conditions := map[string]map[string]bool{}
	for gateway, result := range all {
		for _, config := range result.Proxy.Routes {
			for _, host := range config.GetVirtualHosts() {
				for _, route := range host.GetRoutes() {
					match, err := protojson.Marshal(route.GetMatch())
					if err != nil {
						return nil, err
					}
					value, err := effective(config, host, route)
					if err != nil {
						return nil, err
					}
					key := fmt.Sprintf("route %s %s %s %s", gateway, config.GetName(), host.GetDomains()[0], flat(match))
					routes[key] = append(routes[key], value)
				}
			}
		}
		statuses(result, conditions)
	}
	out := map[string]string{}
	for key, values := range routes {
		out[key] = values[0]
		if len(values) > 1 { // rules with one match: only the first gets requests, and which is the first depends on names
			out[key] = "several"
		}
	}
	for key, values := range conditions {
		out[key] = strings.Join(slices.Sorted(maps.Keys(values)), " ")
	}
	return out, nil
}

// flat is JSON without the spaces that protojson puts in at will, and with the JSON that modules take as text spelt out.
func flat(text []byte) string {
	var tree any
	if json.Unmarshal(text, &tree) != nil {
		return string(text)
	}
	text, _ = json.Marshal(spelt(tree))
	return string(text)
}

func spelt(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = spelt(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = spelt(inner)
		}
	case string:
		var inner map[string]any
		if json.Unmarshal([]byte(v), &inner) == nil {
			return inner
		}
	}
	return v
}

// effective is what holds for a route: what it does, and of each filter the configuration of the route, else of its host, else of all hosts.
func effective(config *routev3.RouteConfiguration, host *routev3.VirtualHost, route *routev3.Route) (string, error) {
	if route.GetDirectResponse().GetStatus() == http.StatusInternalServerError {
		return `"replaced"`, nil // by an error: of policies that hold around it nothing is left to see
	}
	route = proto.Clone(route).(*routev3.Route)
	filters := map[string]*anypb.Any{}
	for _, level := range []map[string]*anypb.Any{config.GetTypedPerFilterConfig(), host.GetTypedPerFilterConfig(), route.GetTypedPerFilterConfig()} {
		maps.Copy(filters, level)
	}
	for off, filter := range disables {
		if _, ok := filters[off]; ok {
			maps.DeleteFunc(filters, func(name string, _ *anypb.Any) bool { return strings.HasPrefix(name, filter) })
		}
	}
	route.TypedPerFilterConfig = filters
	// Names hold those of routes, which differ where policies are written back, and metadata those of policies.
	route.Match, route.Name, route.Metadata = nil, "", nil
	if clusters := route.GetRoute().GetWeightedClusters(); clusters != nil {
		for _, c := range clusters.GetClusters() {
			c.TypedPerFilterConfig = nil
		}
	}
	text, err := protojson.Marshal(route)
	return flat(text), err
}

// disables are the filters that turn off all filters of a sort, by the prefix of their names.
var disables = map[string]string{"global_disable/ext_auth": "ext_auth/", "global_disable/ext_proc": "ext_proc/", "global_disable/jwt": "jwt/"}

// statuses reads the conditions of policies by ancestor, as the Gateways united say.
func statuses(result translator.ActualTestResult, out map[string]map[string]bool) {
	ctx := context.Background()
	for policy := range result.ReportsMap.Policies {
		status := result.ReportsMap.BuildPolicyStatus(ctx, policy, wellknown.DefaultGatewayControllerName, gwv1.PolicyStatus{})
		if status == nil {
			continue
		}
		for _, ancestor := range status.Ancestors {
			key := fmt.Sprintf("status %s %s/%s %s", policy.Kind, policy.Namespace, policy.Name, named(ancestor.AncestorRef, policy.Namespace))
			if out[key] == nil {
				out[key] = map[string]bool{}
			}
			for _, c := range ancestor.Conditions {
				out[key][said(c)] = true
			}
		}
	}
}

func said(c metav1.Condition) string { return fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason) }

// named writes a reference out, with the namespace that it leaves out.
func named(ref gwv1.ParentReference, namespace string) string {
	kind, section := "Gateway", ""
	if ref.Kind != nil {
		kind = string(*ref.Kind)
	}
	if ref.Namespace != nil {
		namespace = string(*ref.Namespace)
	}
	if ref.SectionName != nil {
		section = string(*ref.SectionName)
	}
	return fmt.Sprintf("%s %s/%s %s", kind, namespace, ref.Name, section)
}
