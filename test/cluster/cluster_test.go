package cluster

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

const demo = "../../testdata/demo"

var (
	httpRoutes   = schema.GroupVersionResource{Group: gatewayGroup, Version: "v1", Resource: "httproutes"}
	authPolicies = schema.GroupVersionResource{Group: policyGroup, Version: "v1", Resource: "authpolicies"}
)

func clientFor(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// count lists a kind in all namespaces.
func count(t *testing.T, client dynamic.Interface, resource schema.GroupVersionResource) int {
	t.Helper()
	list, err := client.Resource(resource).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

// TestServerDemo applies the demo twice, lists it through a proxy, and finds nothing of it after Delete.
func TestServerDemo(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	c.ApplyFiles(demo)
	p := c.Proxy("admin", nil)
	client := clientFor(t, &rest.Config{Host: p.URL()})
	if routes, policies := count(t, client, httpRoutes), count(t, client, authPolicies); routes < 4 || policies < 3 {
		t.Errorf("the server has %d HTTPRoutes and %d AuthPolicies of the demo", routes, policies)
	}
	if got := p.Requests(); len(got) != 2 || got[0].Path != "/apis/gateway.networking.k8s.io/v1/httproutes" {
		t.Errorf("the proxy saw %v", got)
	}
	if err := c.Delete(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, client, httpRoutes); n != 0 {
		t.Errorf("%d HTTPRoutes are left", n)
	}
	if _, err := client.Resource(namespaces).Get(t.Context(), "bakery",
		metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace is left: %v", err)
	}
	if _, err := client.Resource(definitions).Get(t.Context(), "timeoutpolicies.policies.example.com",
		metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the definition is left: %v", err)
	}
}

// TestServerTidies: Delete puts back what was changed, and objects with finalizers go.
func TestServerTidies(t *testing.T) {
	c := Shared(t)
	c.MustApply("{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {team: a}}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {team: b}}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: held-by-one, finalizers: [example.com/one]}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: held-by-two, namespace: held, finalizers: [example.com/two]}}")
	if err := c.Delete(); err != nil {
		t.Fatal(err)
	}
	ns, err := c.dynamic.Resource(namespaces).Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil || ns.GetLabels()["team"] != "" {
		t.Errorf("the namespace default: %v, %v", ns, err)
	}
	maps, err := c.dynamic.Resource(namespaces.GroupVersion().WithResource("configmaps")).List(t.Context(),
		metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range maps.Items {
		if strings.HasPrefix(left.GetName(), "held-") {
			t.Errorf("ConfigMap %s is left", left.GetName())
		}
	}
}

// TestServerRefuses: the error of Apply names the object, and what the API server says.
func TestServerRefuses(t *testing.T) {
	c := Shared(t)
	err := c.Apply(
		"{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {namespace: refused, name: bad}, spec: {gatewayClassName: x, listeners: []}}")
	if err == nil || !strings.Contains(err.Error(), "applying Gateway refused/bad: ") ||
		!strings.Contains(err.Error(), "listeners") {
		t.Errorf("got %v", err)
	}
	if err := c.Apply("{apiVersion: v9.example.com/v1, kind: Nothing, metadata: {name: x}}"); err == nil ||
		!strings.Contains(err.Error(), "Nothing x") {
		t.Errorf("got %v", err)
	}
}

// TestServerStatus: statuses are stored for kinds with the subresource and for kinds without.
func TestServerStatus(t *testing.T) {
	c := Shared(t)
	c.MustApply(`
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: with-status}
spec: {controllerName: example.com/status}
status: {conditions: [{type: Accepted, status: "True", reason: Tested, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}
---
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: with-status, namespace: status}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: x}}
status: {conditions: [{type: Accepted, status: "True", reason: Tested, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}
`)
	class := object{httpRoutes.GroupVersion().WithResource("gatewayclasses"), "", "with-status"}
	for _, o := range []object{class, {authPolicies, "status", "with-status"}} {
		got, err := c.at(o).Get(t.Context(), o.name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(got.Object["status"])
		if err != nil || !strings.Contains(string(text), "Tested") {
			t.Errorf("status of %s: %s %v", o, text, err)
		}
	}
}

// TestServerUsers: a user sees what Allow says and nothing else, and the log tells users apart.
func TestServerUsers(t *testing.T) {
	c := Shared(t)
	c.MustApply("{apiVersion: v1, kind: Namespace, metadata: {name: mine}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: theirs}}")
	c.User("alice", "developers")
	c.Allow("alice", "mine", rbacv1.PolicyRule{Verbs: []string{"get", "list"}, APIGroups: []string{policyGroup},
		Resources: []string{"authpolicies"}})
	client := clientFor(t, c.Config("alice")).Resource(authPolicies)
	began := time.Now()
	if _, err := client.Namespace("mine").List(t.Context(), metav1.ListOptions{Limit: 7}); err != nil {
		t.Error(err)
	}
	if _, err := client.Namespace("theirs").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("another namespace: %v", err)
	}
	got := c.Requests("alice", began)
	if len(got) != 2 || got[0].Verb != "list" || got[0].Query.Get("limit") != "7" ||
		got[1].Path != "/apis/kuadrant.io/v1/namespaces/theirs/authpolicies" {
		t.Errorf("the log has %+v", got)
	}
	if got := c.Requests("alice", time.Now()); len(got) != 0 {
		t.Errorf("the log has %+v of a time to come", got)
	}
}

// TestServerCreatedAt: creation times of custom resources and of built-in kinds, given and changed.
func TestServerCreatedAt(t *testing.T) {
	c := Shared(t)
	given := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	c.MustApply("{apiVersion: v1, kind: Namespace, metadata: {name: old}}",
		"{apiVersion: v1, kind: Service, metadata: {name: backend, namespace: old}, spec: {ports: [{port: 80}]}}",
		`{apiVersion: kuadrant.io/v1, kind: AuthPolicy, metadata: {name: given, namespace: old, creationTimestamp: "2020-02-03T04:05:06Z"}, spec: {}}`)
	changed := given.AddDate(-1, 0, 0)
	c.CreatedAt(model.Ref{Kind: "Namespace", Name: "old"}, changed)
	c.CreatedAt(model.Ref{Kind: "Service", Namespace: "old", Name: "backend"}, changed)
	client := clientFor(t, c.Config("admin"))
	for o, want := range map[object]time.Time{{namespaces, "", "old"}: changed, {services, "old", "backend"}: changed,
		{authPolicies, "old", "given"}: given} {
		resource := dynamic.ResourceInterface(client.Resource(o.resource).Namespace(o.namespace))
		if o.namespace == "" {
			resource = client.Resource(o.resource)
		}
		list, err := resource.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + o.name})
		if err != nil || len(list.Items) != 1 || !list.Items[0].GetCreationTimestamp().Time.Equal(want) {
			t.Errorf("%s: %v, %v; want %v", o, list, err, want)
		}
	}
}

// TestServerPopulate makes a load of every sort, and looks at one policy on a gateway and one on a route.
func TestServerPopulate(t *testing.T) {
	c := Shared(t)
	l := Load{Routes: 200, Gateways: 4, Namespaces: 5, Policies: 30}
	c.Populate(l)
	client := clientFor(t, c.Config("admin"))
	if routes, policies := count(t, client, httpRoutes), count(t, client, authPolicies); routes != 200 ||
		policies != 10 {
		t.Errorf("%d routes, %d AuthPolicies", routes, policies)
	}
	if _, err := client.Resource(authPolicies).Namespace(LoadGatewayNamespace).Get(t.Context(), "policy-9",
		metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.Resource(authPolicies).Namespace(LoadNamespace(0)).Get(t.Context(), "policy-12",
		metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// TestServerBare: a server of one's own serves built-in kinds only, and stops.
func TestServerBare(t *testing.T) {
	c := Start(t)
	client := clientFor(t, c.Config("admin"))
	if _, err := client.Resource(httpRoutes).List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("HTTPRoutes: %v", err)
	}
	if n := count(t, client, namespaces); n == 0 {
		t.Error("no namespaces")
	}
	c.Stop()
	if _, err := client.Resource(namespaces).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a stopped server answers")
	}
}

// TestServerKubectl: the kubeconfig files and the programs fit together, with the plugin started by kubectl.
func TestServerKubectl(t *testing.T) {
	c := Shared(t)
	c.MustApply(
		"{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: seen}, spec: {controllerName: example.com/x}}")
	got := RunProgram(t, Kubectl(t), []string{"get", "gatewayclasses", "-o", "name"},
		"KUBECONFIG="+c.Kubeconfig("admin", ""))
	if got.Code != 0 || got.Stdout != "gatewayclass.gateway.networking.k8s.io/seen\n" {
		t.Errorf("kubectl: %+v", got)
	}
	got = RunProgram(t, Kubectl(t), []string{"dopolicy", "version"}, "PATH="+filepath.Dir(Plugin(t)))
	if got.Code != 0 || got.Stdout == "" {
		t.Errorf("the plugin by kubectl: %+v", got)
	}
	if got := Run(t, []string{"version"}); got.Code != 0 || got.Stdout == "" {
		t.Errorf("the plugin: %+v", got)
	}
	if got := Run(t, []string{"no-such-command"}); got.Code != 2 {
		t.Errorf("the plugin with wrong usage: %+v", got)
	}
}
