package kuadrant

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// Operator paths: the subset test has one direction.
func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		host, outer string
		want        bool
	}{
		{"foo.com", "foo.com", true},
		{"foo.com", "*.com", true},
		{"a.b.com", "*.com", true},
		{"a.b.com", "*.b.com", true},
		{"*.foo.com", "*.foo.com", true},
		{"*.foo.com", "*.com", true},
		{"*.com", "*", true},
		{"foo.com", "*", true},
		{"*", "*", true},

		{"*.foo.com", "foo.com", false},
		{"foo.com", "*.foo.com", false},
		{"*", "*.com", false},
		{"*", "foo.com", false},
		{"*.foo.com", "*.bar.foo.com", false},
		{"*.com", "*.foo.com", false},
		{"foo.com", "bar.com", false},
		{"foo.com", "*.org", false},
		{"barfoo.com", "*.foo.com", false},
		{"*.barfoo.com", "*.foo.com", false},
		{"com", "*.com", false},
		{".com", "*.com", false},
	} {
		if got := isHostWithin(tc.host, tc.outer); got != tc.want {
			t.Errorf("within(%q, %q) = %v", tc.host, tc.outer, got)
		}
	}
}

func TestValidStep(t *testing.T) {
	for _, tc := range []struct {
		listener, hosts string // in flow style, "" for none
		want            bool
	}{
		{"", "", true},
		{"", "[foo.com]", true},
		{"foo.com", "", true},
		{"foo.com", "[]", true},
		{"foo.com", "[foo.com]", true},
		{"'*.com'", "[foo.com]", true},
		{"'*.com'", "['*.foo.com']", true},
		{"'*'", "[foo.com]", true},
		{"foo.com", "['*.com']", false},
		{"'*.foo.com'", "['*.com']", false},
		{"foo.com", "['*.com', foo.com]", true},
		{"foo.com", "['*.com', '*']", false},
	} {
		for _, kind := range []string{"HTTPRoute", "GRPCRoute"} {
			g := routed(t, kind, tc.listener, tc.hosts)
			listener, route := find(t, g, topology.Listener, "web"), find(t, g, topology.Route, "")
			p := checkStep(g, listener, route)
			if (p == nil) != tc.want {
				t.Errorf("%s: listener %q, hostnames %s: %+v", kind, tc.listener, tc.hosts, p)
			}
			if p == nil {
				continue
			}
			if p.Code != hostnameNarrower.ID || p.Severity != model.Warning || p.Ref == nil || p.Ref.Name != "route" ||
				!strings.Contains(p.Message, strings.Trim(tc.listener, "'")) ||
				!strings.Contains(p.Message, "gateway/app/gw/web") {
				t.Errorf("%s: listener %q, hostnames %s: reports %+v", kind, tc.listener, tc.hosts, *p)
			}
		}
	}
}

// Steps other than from a listener to a route are the Gateway API's business.
func TestValidStepElsewhere(t *testing.T) {
	g := routed(t, "HTTPRoute", "foo.com", "['*.com']")
	for _, parent := range g.Order(topology.Traffic) {
		for _, child := range g.Children(topology.Traffic, parent) {
			between := [2]topology.Role{g.Node(parent).Role, g.Node(child).Role}
			if p := checkStep(g, parent, child); (p != nil) != (between == [2]topology.Role{topology.Listener,
				topology.Route} && g.Node(parent).Ref.Section == "web") {
				t.Errorf("from %s to %s: %+v", g.Node(parent).Ref, g.Node(child).Ref, p)
			}
		}
	}
}

// routed is a route of the kind below a Gateway whose second listener, web, has the hostname; the
// first one takes every host.
func routed(t *testing.T, kind, listener, hosts string) *topology.Graph {
	t.Helper()
	spec := "parentRefs: [{name: gw}], rules: [{name: only}]"
	if hosts != "" {
		spec += ", hostnames: " + hosts
	}
	hostname := ""
	if listener != "" {
		hostname = ", hostname: " + listener
	}
	in := read(t, fmt.Sprintf(`apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
spec: {controllerName: example.com/controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: app}
spec: {gatewayClassName: class, listeners: [{name: any, port: 80, protocol: HTTP}, {name: web, port: 81, protocol: HTTP%s}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: %s
metadata: {name: route, namespace: app}
spec: {%s}`, hostname, kind, spec))
	return build.Graph(in, model.Settings{})
}

// find is the node of the role, with the section.
func find(t *testing.T, g *topology.Graph, role topology.Role, section string) topology.NodeID {
	t.Helper()
	for _, id := range g.Order(topology.Traffic) {
		if n := g.Node(id); n.Role == role && n.Ref.Section == section {
			return id
		}
	}
	t.Fatalf("no %s %s", role, section)
	return topology.None
}
