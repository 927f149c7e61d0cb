package ingressnginx_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// servedKinds are the kinds of the cluster, by the version of their group.
var servedKinds = map[string][]string{
	"v1":                           {"Namespace", "Service", "Secret", "ConfigMap"},
	"apps/v1":                      {"Deployment", "DaemonSet"},
	"discovery.k8s.io/v1":          {"EndpointSlice"},
	"networking.k8s.io/v1":         {"Ingress", "IngressClass"},
	"gateway.networking.k8s.io/v1": {"GatewayClass", "Gateway", "HTTPRoute"},
}

// ingressCluster answers as the server of a cluster with the objects of manifests. It notes what is listed.
type ingressCluster struct {
	objects   []map[string]any
	forbidden []string // plurals
	without   string   // a group that is not served

	mu     sync.Mutex
	listed []string
}

func pluralOf(kind string) string {
	if strings.HasSuffix(kind, "ss") {
		return strings.ToLower(kind) + "es"
	}
	return strings.ToLower(kind) + "s"
}

// ServeHTTP implements http.Handler.
func (c *ingressCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis"), "/api"), "/")[1:]
	if len(parts) == 0 || parts[0] == "" {
		c.serveGroups(w, r.URL.Path)
		return
	}
	version := parts[0]
	if version != "v1" {
		version += "/" + parts[1]
	}
	rest := strings.Trim(strings.TrimPrefix(strings.Join(parts, "/"), version), "/")
	if rest == "" {
		var resources []any
		for _, kind := range servedKinds[version] {
			resources = append(resources, map[string]any{"name": pluralOf(kind), "kind": kind, "verbs": []string{"list"},
				"namespaced": !strings.HasSuffix(kind, "Class") && kind != "Namespace"})
		}
		encode(w, map[string]any{"kind": "APIResourceList", "groupVersion": version, "resources": resources})
		return
	}
	c.serveList(w, version, rest[strings.LastIndexByte(rest, '/')+1:])
}

func (c *ingressCluster) serveGroups(w http.ResponseWriter, path string) {
	if path == "/api" {
		encode(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		return
	}
	var groups []any
	for version := range servedKinds {
		if group, v, found := strings.Cut(version, "/"); found && group != c.without {
			one := map[string]any{"groupVersion": version, "version": v}
			groups = append(groups, map[string]any{"name": group, "versions": []any{one}, "preferredVersion": one})
		}
	}
	encode(w, map[string]any{"kind": "APIGroupList", "groups": groups})
}

func (c *ingressCluster) serveList(w http.ResponseWriter, version, plural string) {
	c.mu.Lock()
	c.listed = append(c.listed, plural)
	c.mu.Unlock()
	if slices.Contains(c.forbidden, plural) {
		w.WriteHeader(http.StatusForbidden)
		encode(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden",
			"code": 403, "message": plural + " is forbidden"})
		return
	}
	items := []any{}
	for _, o := range c.objects {
		if kind := fmt.Sprint(o["kind"]); o["apiVersion"] == version && pluralOf(kind) == plural {
			items = append(items, o)
		}
	}
	encode(w, map[string]any{"kind": "List", "apiVersion": version, "items": items,
		"metadata": map[string]any{"resourceVersion": "1"}})
}

func encode(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

// ask runs a command against the cluster and returns its JSON, what it says besides, and its exit code.
func (c *ingressCluster) ask(t *testing.T, command string) (answer map[string]any, said string, code int) {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	config := filepath.Join(t.TempDir(), "config")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],` +
		`"clusters":[{"name":"c","cluster":{"server":"` + server.URL + `"}}],"users":[{"name":"u","user":{}}]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := append(strings.Fields(command), "-o", "json", "--kubeconfig", config)
	code = (cli.App{Plugins: plugins.All()}).Run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out,
		Err: &errs, LookupEnv: func(string) (string, bool) { return "", false }})
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatalf("%s: %s\n%s", command, err, out.String())
		}
	}
	return answer, errs.String(), code
}

func newIngressCluster(t *testing.T, kinds ...string) *ingressCluster {
	t.Helper()
	c := &ingressCluster{}
	for _, text := range strings.Split(ingressObjects, "---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		if len(kinds) == 0 || slices.Contains(kinds, fmt.Sprint(o["kind"])) {
			c.objects = append(c.objects, o)
		}
	}
	return c
}

// The class has a controller that only the flags of the Deployment name, and the list is that of the
// ConfigMap that these name.
const ingressObjects = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: inner}
spec: {controller: example.com/inner}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: inner, namespace: proxies}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: registry.k8s.io/ingress-nginx/controller:v1.15.1
        args: [--controller-class=example.com/inner, --ingress-class=inner, --configmap=$(POD_NAMESPACE)/inner]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inner, namespace: proxies}
data: {whitelist-source-range: 192.0.2.0/24}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: shop}
spec:
  ingressClassName: inner
  rules:
  - host: shop.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: shop}
spec: {ports: [{port: 80, name: http}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: shop-1, namespace: shop, labels: {kubernetes.io/service-name: shop}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [198.51.100.7], conditions: {ready: true}}]
`

// TestIngressesOfCluster: what decides about requests to Ingresses is read of a cluster, and no Secret is.
func TestIngressesOfCluster(t *testing.T) {
	const request = "request http://shop.example.com/ --ingress inner --client-ip "
	c := newIngressCluster(t)
	for address, want := range map[string]string{"192.0.2.7": "Matched", "198.51.100.7": "Denied"} {
		got, said, code := c.ask(t, request+address)
		if got["outcome"] != want || got["complete"] != true || code != cli.ExitAnswered {
			t.Errorf("from %s: exit %d, outcome %v, complete %v\n%s", address, code, got["outcome"], got["complete"], said)
		}
	}
	for _, plural := range []string{"ingresses", "ingressclasses", "configmaps", "deployments", "daemonsets",
		"endpointslices", "services"} {
		if !slices.Contains(c.listed, plural) {
			t.Errorf("%s are not listed", plural)
		}
	}
	if slices.Contains(c.listed, "secrets") {
		t.Error("Secrets are listed")
	}
}

// TestIngressesForbidden: an answer about Ingresses is not complete without what it depends on, one about
// policies is.
func TestIngressesForbidden(t *testing.T) {
	c := newIngressCluster(t)
	c.forbidden = []string{"configmaps"}
	got, said, code := c.ask(t, "request http://shop.example.com/ --ingress inner --client-ip 192.0.2.7")
	if got["complete"] != false || !strings.Contains(said, "ConfigMap") {
		t.Errorf("exit %d: complete %v\n%s", code, got["complete"], said)
	}
	c.forbidden = []string{"ingresses", "ingressclasses", "endpointslices"}
	got, said, code = c.ask(t, "effective -A")
	text, _ := json.Marshal(got["problems"])
	if got["complete"] != true || code != cli.ExitAnswered || strings.Contains(said, "forbidden") ||
		!strings.Contains(string(text), "cannot list ingresses.networking.k8s.io") {
		t.Errorf("exit %d: complete %v, problems %s\n%s", code, got["complete"], text, said)
	}
}

// TestIngressesSeldomRead: what only Ingresses depend on is not read where there are none.
func TestIngressesSeldomRead(t *testing.T) {
	c := newIngressCluster(t, "Namespace", "Service", "Deployment", "ConfigMap", "IngressClass")
	if got, said, code := c.ask(t, "effective -A"); code != cli.ExitAnswered || got["complete"] != true {
		t.Errorf("exit %d\n%s", code, said)
	}
	for _, plural := range []string{"configmaps", "deployments", "daemonsets", "endpointslices"} {
		if slices.Contains(c.listed, plural) {
			t.Errorf("%s are listed", plural)
		}
	}
}

// TestIngressesWithoutGateways: a cluster without the Gateway API is read if it has Ingresses.
func TestIngressesWithoutGateways(t *testing.T) {
	c := newIngressCluster(t)
	c.without = "gateway.networking.k8s.io"
	if got, said, code := c.ask(t, "effective -A"); code != cli.ExitAnswered || got["items"] == nil {
		t.Errorf("exit %d\n%s", code, said)
	}
	c = newIngressCluster(t, "Namespace", "Service")
	c.without = "gateway.networking.k8s.io"
	if _, said, code := c.ask(t, "effective -A"); code != cli.ExitNoAnswer || !strings.Contains(said, "Gateway API") {
		t.Errorf("without Ingresses: exit %d\n%s", code, said)
	}
}
