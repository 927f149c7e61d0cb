package ingresstest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

const prefix = "nginx.ingress.kubernetes.io/"

// cluster is a set of objects that the proxy is configured with.
type cluster struct {
	ingresses []*networking.Ingress
	classes   []*networking.IngressClass
	services  []*core.Service
	slices    []*discovery.EndpointSlice
	secrets   []*core.Secret
	settings  *core.ConfigMap // of the controller; nil: none
}

// manifests writes the cluster as text.
func (c *cluster) manifests(t *testing.T) []byte {
	t.Helper()
	out := appendAll(c.listDrawn(), c.services)
	out = appendAll(out, c.slices)
	return slices.Concat(writeObjects(t, appendAll(out, c.secrets)), []byte(controller))
}

// controller is what runs the proxy: with no flag that is not the usual one.
const controller = `---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ingress-nginx, name: ingress-nginx-controller}
spec:
  template:
    spec:
      containers:
      - {name: controller, args: [/nginx-ingress-controller, --configmap=ingress-nginx/ingress-nginx-controller]}
`

// describe writes what differs between clusters; Services, their slices and Secrets are always the same.
func (c *cluster) describe(t *testing.T) []byte {
	t.Helper()
	return writeObjects(t, c.listDrawn())
}

func (c *cluster) listDrawn() []any {
	out := appendAll(appendAll(nil, c.ingresses), c.classes)
	if c.settings != nil {
		out = append(out, c.settings)
	}
	return out
}

func writeObjects(t *testing.T, objects []any) []byte {
	t.Helper()
	var out [][]byte
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, leaveOutEmpty(text))
	}
	return bytes.Join(out, []byte("---\n"))
}

func appendAll[T any](out []any, objects []T) []any {
	for _, o := range objects {
		out = append(out, o)
	}
	return out
}

// leaveOutEmpty leaves out what the API's types write of fields that are not set.
func leaveOutEmpty(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		switch strings.TrimSpace(string(line)) {
		case "status:", "loadBalancer: {}", "creationTimestamp: null", "status: {}":
			continue
		}
		out = append(out, line...)
	}
	return out
}

// value is a setting of the controller, or what holds without it.
func (c *cluster) value(key, without string) string {
	if c.settings != nil {
		if v, set := c.settings.Data[key]; set {
			return v
		}
	}
	return without
}

func (c *cluster) findService(namespace, name string) *core.Service {
	for _, s := range c.services {
		if s.Namespace == namespace && s.Name == name {
			return s
		}
	}
	return nil
}

func (c *cluster) findSecret(namespace, name string) *core.Secret {
	for _, s := range c.secrets {
		if s.Namespace == namespace && s.Name == name {
			return s
		}
	}
	return nil
}

// hasEndpoints reports whether a Service has any. A Service without slices has them elsewhere.
func (c *cluster) hasEndpoints(s *core.Service) bool {
	found, ready := false, false
	for _, slice := range c.slices {
		if slice.Namespace == s.Namespace && slice.Labels[discovery.LabelServiceName] == s.Name {
			found = true
			ready = ready || len(slice.Endpoints) > 0
		}
	}
	return ready || !found
}

// listIngresses lists those of the controller in its order (N1, N2).
func (c *cluster) listIngresses() []*networking.Ingress {
	var out []*networking.Ingress
	for _, ing := range c.ingresses {
		if c.isOurs(ing) {
			out = append(out, ing)
		}
	}
	slices.SortFunc(out, func(a, b *networking.Ingress) int {
		if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
			return order
		}
		return -strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out
}

// isOurs follows N1. A class `nginx` that is not among the objects is taken for the controller's.
func (c *cluster) isOurs(ing *networking.Ingress) bool {
	if ing.Spec.IngressClassName == nil {
		return ing.Annotations["kubernetes.io/ingress.class"] == "nginx"
	}
	for _, class := range c.classes {
		if class.Name == *ing.Spec.IngressClassName {
			return class.Spec.Controller == "k8s.io/ingress-nginx"
		}
	}
	return *ing.Spec.IngressClassName == "nginx"
}
