package build

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// workloads builds the family of workloads, and names them.
func workloads(t *testing.T, manifests string) (testGraph, map[string]topology.NodeID) {
	t.Helper()
	in := model.NewSnapshot(objects(t, manifests), nil)
	g := testGraph{Graph(in, model.Settings{}, func(b *Builder) {
		b.AddWorkloads(model.GroupKind{Kind: "Pod"}, model.GroupKind{Group: "apps", Kind: "Deployment"})
	})}
	found := map[string]topology.NodeID{}
	for _, id := range g.Order(topology.Namespaced) {
		if n := g.Node(id); n.Role == topology.Workload {
			found[n.Ref.String()] = id
		}
	}
	return g, found
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, ports: [{name: http, containerPort: 8080}, {containerPort: 53, protocol: UDP}]}]}}}
`

func TestWorkloads(t *testing.T) { // Pods, else what stands for them
	pod := func(name, more string) string {
		return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: shop, " + more + "}\n"
	}
	replicas := `---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-5f7, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web}]}
`
	for _, c := range []struct {
		name, manifests string
		want            []string
	}{
		{"a template stands for its pods", deployment, []string{"deployment/shop/web"}},
		{"what it made does not stand beside it", deployment + replicas, []string{"deployment/shop/web"}},
		{"its pods stand for themselves, known by their owner", deployment + pod("web-5f7-x",
			"ownerReferences: [{kind: ReplicaSet, name: web-5f7}]"), []string{"pod/shop/web-5f7-x"}},
		{"or by name and labels", deployment + pod("web-0", "labels: {app: web, more: x}"), []string{"pod/shop/web-0"}},
		{"a name alone says nothing", deployment + pod("web-0", "labels: {app: cart}"), []string{"deployment/shop/web",
			"pod/shop/web-0"}},
		{"nor do labels", deployment + pod("other", "labels: {app: web}"), []string{"deployment/shop/web",
			"pod/shop/other"}},
	} {
		_, found := workloads(t, c.manifests)
		var got []string
		for name := range found {
			got = append(got, name)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if g := Graph(model.NewSnapshot(objects(t, deployment), nil), model.Settings{},
		func(b *Builder) { b.AddWorkloads(model.GroupKind{Kind: "Other"}) }); len(g.Order(topology.Namespaced)) > 0 {
		t.Error("the family is made although nobody asks for it")
	}
}

func TestPodFacts(t *testing.T) {
	g, found := workloads(t, deployment+`---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec:
  hostNetwork: true
  nodeName: n1
  initContainers:
  - {name: setup, ports: [{name: gone, containerPort: 1}]}
  - {name: side, restartPolicy: Always, ports: [{name: side, containerPort: 2}]}
status: {podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}, {ip: "fd00::1"}]}
`)
	web, p := g.Pod(found["deployment/shop/web"]), g.Pod(found["pod/shop/p"])
	if !web.Template || web.Labels["app"] != "web" ||
		!slices.Equal(web.Ports, []workload.Port{{Name: "http", Protocol: "TCP", Number: 8080},
			{Name: "", Protocol: "UDP", Number: 53}}) {
		t.Errorf("%+v", web)
	}
	if p.Template || !p.HostNetwork || p.Node != "n1" || !slices.Equal(p.Addresses, []string{"10.0.0.1", "fd00::1"}) ||
		!slices.Equal(p.Ports, []workload.Port{{Name: "side", Protocol: "TCP", Number: 2}}) {
		t.Errorf("%+v", p)
	}
}

func TestPodSelectors(t *testing.T) {
	g, found := workloads(t, deployment+`---
apiVersion: v1
kind: Namespace
metadata: {name: known, labels: {team: a}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: known, labels: {app: cart}}
---
apiVersion: v1
kind: Pod
metadata: {name: host, namespace: known, labels: {app: cart}}
spec: {hostNetwork: true}
`)
	read := func(labels map[string]any) selector.LabelSelector {
		s, err := selector.ReadLabelSelector(model.Pack(labels, nil))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	team := read(map[string]any{"matchLabels": map[string]any{"team": "a"}})
	name := read(map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "shop"}})
	for _, c := range []struct {
		name, of string
		selector selector.PodSelector
		want     selector.Truth
	}{
		{"labels of a namespace", "pod/known/p", selector.PodSelector{Namespaces: team, Pods: selector.Everything()},
			selector.Yes},
		{"of one that is not in the input", "deployment/shop/web", selector.PodSelector{Namespaces: team,
			Pods: selector.Everything()}, selector.Maybe},
		{"which has its name all the same", "deployment/shop/web", selector.PodSelector{Namespaces: name,
			Pods: selector.Everything()}, selector.Yes},
		{"and is among all", "deployment/shop/web", selector.PodSelector{Namespaces: selector.Everything(),
			Pods: selector.Everything()}, selector.Yes},
		{"labels of the pod come first", "deployment/shop/web", selector.PodSelector{Namespaces: team, Pods: team},
			selector.No},
		{"one namespace", "pod/known/p", selector.PodSelector{In: "shop", Pods: selector.Everything()}, selector.No},
		{"a selector that is not there", "pod/known/p", selector.PodSelector{Namespaces: selector.Everything()},
			selector.No},
		{"the network of the node", "pod/known/host", selector.PodSelector{Namespaces: selector.Everything(),
			Pods: selector.Everything()}, selector.No},
	} {
		if got := g.SelectsWorkload(c.selector, found[c.of]); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestLabelSelectorsThatCannotBeRead(t *testing.T) {
	for _, v := range []any{"x", map[string]any{"matchLabels": []any{}},
		map[string]any{"matchLabels": map[string]any{"a": int64(1)}},
		map[string]any{"matchExpressions": "x"}, map[string]any{"matchExpressions": []any{map[string]any{"key": "a",
			"operator": "Is"}}},
		map[string]any{"matchExpressions": []any{nil}}, map[string]any{"matchExpressions": []any{
			map[string]any{"key": "a", "operator": "In", "values": []any{true}}}}} {
		if s, err := selector.ReadLabelSelector(model.Pack(v, nil)); err == nil || s.SelectsLabels(nil) {
			t.Errorf("%v: %v", v, err)
		}
	}
}
