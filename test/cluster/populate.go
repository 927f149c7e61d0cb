package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Load says how much Populate makes.
type Load struct {
	Routes, Gateways, Namespaces, Policies int
	Kinds                                  []string // of the policies, in turn, all of kuadrant.io; nil for three of them
}

// The names of what Populate makes; those of namespaces, gateways and routes are numbered from 0.
const (
	LoadGatewayNamespace = "load-gateways"
	loadClass            = "load"
	gatewayGroup         = "gateway.networking.k8s.io"
	gatewayVersion       = gatewayGroup + "/v1"
	policyGroup          = "kuadrant.io"
)

// LoadNamespace is the name of a namespace of routes.
func LoadNamespace(i int) string { return fmt.Sprintf("load-%d", i) }

// LoadGateway is the name of a gateway, in the namespace LoadGatewayNamespace.
func LoadGateway(i int) string { return fmt.Sprintf("gateway-%d", i) }

// LoadRoute is the namespace and the name of a route, and the number of its gateway.
func (l Load) LoadRoute(i int) (namespace, name string, gateway int) {
	return LoadNamespace(i % l.Namespaces), fmt.Sprintf("route-%d", i), i % l.Gateways
}

// Populate makes HTTPRoutes of two rules, spread evenly over gateways and namespaces, and policies: the first of each kind on the gateways,
// one each, the others on routes. Creating is what a test waits for, so it is done in parallel.
func (c *Cluster) Populate(l Load) {
	c.tb.Helper()
	if l.Kinds == nil {
		l.Kinds = []string{"AuthPolicy", "RateLimitPolicy", "TokenRateLimitPolicy"}
	}
	if l.Gateways < 1 || l.Routes > 0 && l.Namespaces < 1 {
		c.tb.Fatalf("populating the cluster: %+v has nowhere to put things", l)
	}
	err := c.Apply(loadBase(l)...)
	var objects []*unstructured.Unstructured
	for i := range l.Gateways {
		objects = append(objects, loadGateway(i))
	}
	for i := range l.Routes {
		objects = append(objects, l.route(i))
	}
	for i := range l.Policies {
		if err == nil {
			var version string
			version, err = c.policyVersion(l.Kinds[i%len(l.Kinds)])
			objects = append(objects, l.policy(i, version))
		}
	}
	if err == nil {
		err = c.createAll(objects)
	}
	if err != nil {
		c.tb.Fatalf("populating the cluster: %v", err)
	}
}

func (c *Cluster) policyVersion(kind string) (string, error) {
	m, err := c.mapping(schema.GroupVersionKind{Group: policyGroup, Kind: kind})
	if err != nil {
		return "", err
	}
	return m.GroupVersionKind.GroupVersion().String(), nil
}

// loadBase are the texts of the class and the namespaces.
func loadBase(l Load) []string {
	out := []string{
		fmt.Sprintf(
			"{apiVersion: %s, kind: GatewayClass, metadata: {name: %s}, spec: {controllerName: example.com/load}}",
			gatewayVersion, loadClass)}
	for i := range l.Namespaces + 1 {
		name := LoadGatewayNamespace
		if i > 0 {
			name = LoadNamespace(i - 1)
		}
		out = append(out, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name))
	}
	return out
}

func newObject(version, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": version, "kind": kind, "metadata": map[string]any{"namespace": namespace,
			"name": name}, "spec": spec,
	}}
}

func loadGateway(i int) *unstructured.Unstructured {
	return newObject(gatewayVersion, "Gateway", LoadGatewayNamespace, LoadGateway(i), map[string]any{
		"gatewayClassName": loadClass,
		"listeners": []any{map[string]any{
			"name": "http", "port": int64(80), "protocol": "HTTP",
			"allowedRoutes": map[string]any{"namespaces": map[string]any{"from": "All"}},
		}},
	})
}

func (l Load) route(i int) *unstructured.Unstructured {
	namespace, name, gateway := l.LoadRoute(i)
	rule := func(name, prefix string) any {
		return map[string]any{"name": name,
			"matches":     []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": prefix}}},
			"backendRefs": []any{map[string]any{"name": "backend", "port": int64(8080)}}}
	}
	return newObject(gatewayVersion, "HTTPRoute", namespace, name, map[string]any{
		"parentRefs": []any{map[string]any{"namespace": LoadGatewayNamespace, "name": LoadGateway(gateway)}},
		"hostnames":  []any{name + ".example.com"},
		"rules":      []any{rule("read", "/read"), rule("write", "/write")},
	})
}

// policy is the i-th policy. Every other one on a gateway is an override.
func (l Load) policy(i int, version string) *unstructured.Unstructured {
	kind, turn := l.Kinds[i%len(l.Kinds)], i/len(l.Kinds)
	target := map[string]any{"group": gatewayGroup}
	var namespace string
	words := "defaults"
	if turn < l.Gateways || l.Routes == 0 {
		namespace, target["kind"], target["name"] = LoadGatewayNamespace, "Gateway", LoadGateway(turn%l.Gateways)
		if turn%2 == 1 {
			words = "overrides"
		}
	} else {
		var name string
		each := max(1, l.Routes*len(l.Kinds)/max(1, l.Policies)) // spreads the policies of a kind over all routes
		namespace, name, _ = l.LoadRoute((turn - l.Gateways) * each % l.Routes)
		target["kind"], target["name"] = "HTTPRoute", name
	}
	settings := map[string]any{"strategy": "merge"}
	if kind == "AuthPolicy" {
		settings["rules"] = map[string]any{"authentication": map[string]any{fmt.Sprintf("keys-%d",
			turn): map[string]any{"apiKey": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "load"}}}}}}
	} else {
		settings["limits"] = map[string]any{fmt.Sprintf("limit-%d", turn): map[string]any{
			"rates": []any{map[string]any{"limit": int64(turn + 1), "window": "1m"}}}}
	}
	return newObject(version, kind, namespace, fmt.Sprintf("policy-%d", i), map[string]any{"targetRef": target,
		words: settings})
}

// createAll creates objects that do not exist, in any order.
func (c *Cluster) createAll(objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		m, err := c.mapping(o.GroupVersionKind())
		if err != nil {
			return err
		}
		c.made = append(c.made, object{m.Resource, o.GetNamespace(), o.GetName()})
	}
	const workers = 16
	made := c.made[len(c.made)-len(objects):]
	failed := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(objects) && failed[w] == nil; i += workers {
				_, err := c.at(made[i]).Create(context.Background(), objects[i], metav1.CreateOptions{})
				if err != nil {
					failed[w] = fmt.Errorf("creating %s: %w", made[i], err)
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}
