package linkerd

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// resolveManifests resolves manifests as the program does.
func resolveManifests(t *testing.T, manifests ...string) *resolve.Resolution {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(strings.Join(manifests, "\n---\n"))})
	if err != nil || len(in.Problems) > 0 {
		t.Fatal(err, in.Problems)
	}
	c, err := plugin.NewCatalog([]plugin.Plugin{Plugin()}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, c.Settings(), c.Links()...), c)
}

// orchard is a workload in the mesh with a Server, and two clients: press is in the mesh, crow is not.
const orchard = `
apiVersion: v1
kind: Namespace
metadata: {name: orchard, annotations: {linkerd.io/inject: enabled}}
---
apiVersion: v1
kind: Namespace
metadata: {name: road}
---
apiVersion: v1
kind: Pod
metadata: {name: apple, namespace: orchard, labels: {app: apple}}
spec:
  serviceAccountName: apple
  containers:
  - {name: main, ports: [{containerPort: 8000, name: web}], livenessProbe: {httpGet: {path: "/up?x=1", port: web}}}
---
apiVersion: v1
kind: Pod
metadata: {name: press, namespace: orchard, labels: {app: press}}
spec: {serviceAccountName: press, containers: [{name: main}]}
---
apiVersion: v1
kind: Pod
metadata: {name: crow, namespace: road}
spec: {containers: [{name: main}]}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: apple, namespace: orchard}
spec: {podSelector: {matchLabels: {app: apple}}, port: web, proxyProtocol: PROTOCOL}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: press, namespace: orchard}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: apple}
  requiredAuthenticationRefs: [{kind: ServiceAccount, name: press}]`

func orchardWith(protocol string) string { return strings.ReplaceAll(orchard, "PROTOCOL", protocol) }

// routed adds two routes to the Server: the one for /open is granted to everybody, the one for /press
// to nobody more than the Server grants.
const routed = `
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: open, namespace: orchard}
spec: {parentRefs: [{kind: Server, name: apple, group: policy.linkerd.io}], rules: [{matches: [{path: {value: /open}}]}]}
---
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: press, namespace: orchard}
spec: {parentRefs: [{kind: Server, name: apple, group: policy.linkerd.io}], rules: [{matches: [{path: {value: /press}, method: POST}]}]}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: open, namespace: orchard}
spec: {targetRef: {group: policy.linkerd.io, kind: HTTPRoute, name: open}, requiredAuthenticationRefs: []}`

// get is a request as a client in the mesh sends it.
func get(method, path string, headers ...request.Field) *request.Answer {
	return &request.Answer{Gateway: topology.None, Request: request.Request{Protocol: request.HTTP, Method: method, Path: path,
		Host: "apple.example", Headers: headers}}
}

// judgeAt judges a request, or a connection if it is nil, of a Pod to the apple.
func judgeAt(t *testing.T, r *resolve.Resolution, from point.End, port int, a *request.Answer) []point.Point {
	t.Helper()
	pod := func(namespace, name string) *model.Object {
		return r.Snapshot.Get(model.Ref{Kind: "Pod", Namespace: namespace, Name: name})
	}
	if from.Object == nil && !from.PodsUnknown && !from.Address.IsValid() {
		from = point.NewEnd(r, pod(from.Stands.Namespace, from.Stands.Name))
	}
	return newLayer(r).Judge(&point.Hop{From: from, To: point.NewEnd(r, pod("orchard", "apple")), Protocol: "TCP", Port: port,
		Request: a})
}

func podEnd(namespace, name string) point.End {
	return point.End{Stands: model.Ref{Kind: "Pod", Namespace: namespace, Name: name}}
}

// TestPoints: one grant that fits lets a request in, on the route that takes it.
func TestPoints(t *testing.T) {
	press, crow := podEnd("orchard", "press"), podEnd("road", "crow")
	const id = "press.orchard.serviceaccount.identity.linkerd.cluster.local"
	sends := get("GET", "/old")
	sends.Sends = &request.Sent{Method: "GET", Host: "apple.example", Path: "/open/x"}
	modified := get("GET", "/open", request.Field{Name: "x-a", Value: "1"})
	modified.Filters = []string{"RequestHeaderModifier"}
	gateway := point.End{Object: point.NewAssumedPod("orchard", "front", "", nil), Node: topology.None, AccountUnknown: true}
	for _, c := range []struct {
		name      string
		manifests []string
		from      point.End
		asked     *request.Answer
		want      point.Verdict
		says      string
		identity  string // "?": not known
		same      bool   // it says the same to every request
		policies  string
	}{
		{"an identity that is granted", nil, press, get("GET", "/"), point.Allowed, "it is let in by Server", id, true, "apple press"},
		{"a client outside", nil, crow, get("GET", "/"), point.Denied, "no grant at Server", "", false, "apple press"},
		{"the built-in grant of probes", nil, crow, get("GET", "/up"), point.Allowed, "probes", "", false, "apple press"},
		{"of no other method", nil, crow, get("POST", "/up"), point.Denied, "no grant", "", false, "apple press"},
		{"a route that everybody may use", []string{routed}, crow, get("GET", "/open/x"), point.Allowed, "/open of", "", false, "apple press open"},
		{"a route without a grant of its own", []string{routed}, press, get("POST", "/press"), point.Allowed, "/press of", id, false, "apple press"},
		{"nobody granted the route to it", []string{routed}, crow, get("POST", "/press"), point.Denied, "403", "", false, "apple press"},
		{"no route", []string{routed}, press, get("GET", "/press"), point.Denied, "404", id, false, "apple press"},
		{"routes take the grant of probes away", []string{routed}, crow, get("GET", "/up"), point.Denied, "404", "", false, "apple press"},
		{"the path that is sent", []string{routed}, crow, sends, point.Allowed, "/open of", "", false, "apple press open"},
		{"a path that may be normalized", []string{routed}, crow, get("GET", "/a/../open"), point.Depends, "normalized", "", false, "apple press open"},
		{"a connection", []string{routed}, press, nil, point.Depends, "depends on the path", id, false, "apple press open"},
		{"a header that a filter changes", []string{routed, `
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: tagged, namespace: orchard}
spec:
  parentRefs: [{kind: Server, name: apple, group: policy.linkerd.io}]
  rules: [{matches: [{path: {value: /open}, headers: [{name: X-A, value: "2"}]}]}]`}, crow, modified, point.Depends, "changes headers", "", false, "apple press open"},
		{"a service account that is not known", nil, gateway, get("GET", "/"), point.Depends, "service account", "?", false, "apple press"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := resolveManifests(t, append([]string{orchardWith("HTTP/1")}, c.manifests...)...)
			points := judgeAt(t, r, c.from, 8000, c.asked)
			if len(points) != 1 {
				t.Fatalf("%d points", len(points))
			}
			p := points[0]
			if p.Verdict != c.want || !strings.Contains(p.Because, c.says) {
				t.Errorf("%s: %s, want %s: %s", p.Verdict, p.Because, c.want, c.says)
			}
			switch {
			case c.identity == "?" && p.Identity != nil, c.identity != "?" && (p.Identity == nil || *p.Identity != c.identity):
				t.Errorf("identity %v, want %s", p.Identity, c.identity)
			}
			var names []string
			for _, ref := range p.Policies {
				names = append(names, ref.Name)
			}
			if got := strings.Join(names, " "); got != c.policies {
				t.Errorf("policies %s, want %s", got, c.policies)
			}
			if strings.HasPrefix(p.Because, "404") && strings.Contains(p.Because, "identity") {
				t.Errorf("it is said who the client is where that does not matter: %s", p.Because)
			}
			if c.asked != nil && p.IgnoresRequests != c.same {
				t.Errorf("says the same to every request: %v", p.IgnoresRequests)
			}
		})
	}
}

// TestPointsIgnoringRequests: on ports without requests, and where nobody is granted anything, the
// answer is the same for all.
func TestPointsIgnoringRequests(t *testing.T) {
	crow := podEnd("road", "crow")
	for name, c := range map[string]struct {
		manifests []string
		port      int
		want      point.Verdict
	}{
		"an opaque port":        {[]string{orchardWith("opaque"), routed}, 8000, point.Denied},
		"a port without Server": {[]string{orchardWith("HTTP/1")}, 9000, point.Allowed},
		"routes for nobody": {[]string{orchardWith("HTTP/1"), strings.Split(routed, "---\napiVersion: policy.linkerd.io/v1alpha1")[0]},
			8000, point.Denied},
	} {
		for _, path := range []string{"/open", "/elsewhere"} {
			p := judgeAt(t, resolveManifests(t, c.manifests...), crow, c.port, get("GET", path))[0]
			if p.Verdict != c.want || !p.IgnoresRequests {
				t.Errorf("%s, %s: %s (%s), the same to all: %v", name, path, p.Verdict, p.Because, p.IgnoresRequests)
			}
		}
	}
}

// TestSkippedPort: what does not pass the proxy is asked nothing, and its policies are bypassed.
func TestSkippedPort(t *testing.T) {
	skips := strings.Replace(orchardWith("HTTP/1"), "labels: {app: apple}",
		"labels: {app: apple}, annotations: {config.linkerd.io/skip-inbound-ports: \"7999-8001\"}", 1)
	p := judgeAt(t, resolveManifests(t, skips), podEnd("road", "crow"), 8000, get("GET", "/"))[0]
	if p.Verdict != point.Bypassed || len(p.Policies) != 2 || !strings.Contains(p.Because, skipInboundAnnotation) {
		t.Errorf("%s: %s, policies %v", p.Verdict, p.Because, p.Policies)
	}
}

// TestClientIdentity: what is not known of a client is a doubt only where a grant asks for it.
func TestClientIdentity(t *testing.T) {
	r := resolveManifests(t, orchardWith("HTTP/1"))
	open := resolveManifests(t, strings.Replace(orchardWith("HTTP/1"), "proxyProtocol", "accessPolicy: all-unauthenticated, proxyProtocol", 1))
	gateway := &model.Object{Ref: model.Ref{Kind: "Gateway", Namespace: "road", Name: "front"},
		Body: model.Pack(map[string]any{"spec": map[string]any{"infrastructure": map[string]any{"annotations": map[string]any{
			injectAnnotation: "enabled"}}}}, nil)}
	inMesh := point.End{Object: point.NewAssumedPod("road", "front", "press", nil), Node: topology.None, Gateway: gateway,
		Stands: gateway.Ref}
	nobody := point.End{Node: topology.None, PodsUnknown: true, Stands: model.Ref{Kind: "Gateway", Namespace: "road", Name: "front"}}
	for name, c := range map[string]struct {
		r    *resolve.Resolution
		from point.End
		want point.Verdict
		id   string
	}{
		"Pods of which nothing is known":               {r, nobody, point.Depends, "?"},
		"do not matter where everybody is let in":      {open, nobody, point.Allowed, "?"},
		"the annotation that a Gateway gives its Pods": {r, inMesh, point.Denied, "press.road.serviceaccount.identity.linkerd.cluster.local"},
	} {
		p := judgeAt(t, c.r, c.from, 8000, get("GET", "/"))[0]
		if p.Verdict != c.want || c.id == "?" && p.Identity != nil || c.id != "?" && (p.Identity == nil || *p.Identity != c.id) {
			t.Errorf("%s: %s (%s), identity %v", name, p.Verdict, p.Because, p.Identity)
		}
	}
}

// TestPodsNotInTheInput: which Server is for them is not known where it asks for labels that they may
// have.
func TestPodsNotInTheInput(t *testing.T) {
	for labels, want := range map[string]point.Verdict{"app: apple": point.Denied, "kind: fruit": point.Depends,
		"app: pear": point.Allowed} {
		manifests := strings.Replace(orchardWith("HTTP/1"), "port: web, proxyProtocol", "port: 8000, proxyProtocol", 1)
		r := resolveManifests(t, manifests)
		key, value, _ := strings.Cut(labels, ": ")
		to := point.End{Object: point.NewAssumedPod("orchard", "apples", "", map[string]string{key: value}), Node: topology.None,
			LabelsUnknown: true, AccountUnknown: true}
		crow := r.Snapshot.Get(model.Ref{Kind: "Pod", Namespace: "road", Name: "crow"})
		p := newLayer(r).Judge(&point.Hop{From: point.NewEnd(r, crow), To: to, Protocol: "TCP", Port: 8000, Request: get("GET", "/")})[0]
		if p.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", labels, p.Verdict, p.Because, want)
		}
	}
}

// TestTakers: the closest route takes a request: by hostname, then by the length of the path, whatever
// its form, then by method, headers and query. A route with a filter that proxies do not know is none.
func TestTakers(t *testing.T) {
	route := func(name, spec string) string {
		return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
			", namespace: orchard, creationTimestamp: \"2026-01-0" + name[len(name)-1:] + "T00:00:00Z\"}\nspec:\n" +
			"  parentRefs: [{group: policy.linkerd.io, kind: Server, name: apple}]\n  " + strings.ReplaceAll(spec, "\n", "\n  ")
	}
	r := resolveManifests(t, orchardWith("HTTP/1"),
		route("prefix-1", "rules: [{matches: [{path: {value: /fruit/}}]}]"),
		route("exact-2", "rules: [{matches: [{path: {type: Exact, value: /fruit}}]}]"),
		route("expression-3", `rules: [{matches: [{path: {type: RegularExpression, value: "/fruit/[a-z]+"}}]}]`),
		route("method-4", "rules: [{matches: [{path: {value: /fruit}, method: PUT}]}]"),
		route("host-5", "hostnames: [\"*.example\"]\nrules: [{matches: [{path: {value: /juice}}]}]"),
		route("query-6", "rules: [{matches: [{path: {value: /fruit/red}, queryParams: [{name: a, value: \"1\"}]}]}]"),
		route("rewrite-7", "rules: [{matches: [{path: {value: /fruit/red/round}}], filters: [{type: URLRewrite, urlRewrite: {hostname: a.example}}]}]"),
		route("whole-8", "hostnames: [other.example]\nrules: [{}]"))
	w := buildMeshIndex(r.Snapshot, r.Settings)
	v := w.servers["orchard"][0]
	for _, c := range []struct {
		method, host, path, query, want string
	}{
		{"GET", "a.b", "/fruit", "", "prefix-1"}, // as long as the exact path, and older
		{"GET", "a.b", "/fruitcake", "", ""},
		{"GET", "a.b", "/fruit/red", "", "expression-3"},
		{"GET", "a.b", "/fruit/red/", "", "prefix-1"}, // no expression matches all of it
		{"PUT", "a.b", "/fruit", "", "method-4"},
		{"GET", "a.b", "/fruit/red", "1", "query-6"},
		{"GET", "a.b", "/fruit/red/round", "", "prefix-1"},
		{"GET", "a.example", "/juice", "", "host-5"},
		{"GET", "example", "/juice", "", ""},
		{"GET", "Other.Example.", "/anything", "", "whole-8"},
		{"GET", "other.example", "/fruit", "", "whole-8"}, // the hostname counts before the path
	} {
		sent := &sentRequest{method: c.method, host: c.host, path: c.path}
		if c.query != "" {
			sent.query = []request.Field{{Name: "a", Value: c.query}}
		}
		takers, _ := w.findTakers(v, sent)
		var names []string
		for _, o := range takers {
			if o == nil {
				names = append(names, "")
			} else {
				names = append(names, o.Ref.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s %s%s: %q, want %q", c.method, c.host, c.path, got, c.want)
		}
	}
}

// TestExpressionThatCannotBeEvaluated: whether its route takes a request is not known.
func TestExpressionThatCannotBeEvaluated(t *testing.T) {
	vine := strings.NewReplacer("name: open", "name: vine", "{value: /open}", `{type: RegularExpression, value: "/vine/("}`).Replace(
		strings.Split(routed, "---")[0])
	p := judgeAt(t, resolveManifests(t, orchardWith("HTTP/1"), vine), podEnd("orchard", "press"), 8000, get("GET", "/vine/"))[0]
	if p.Verdict != point.Depends || !strings.Contains(p.Because, "regular expression") {
		t.Errorf("%s: %s", p.Verdict, p.Because)
	}
}

// TestEquallyCloseRoutes: where no ages are known it is not known which of them takes a request; that
// matters only if they are granted to others.
func TestEquallyCloseRoutes(t *testing.T) {
	twin := strings.ReplaceAll(strings.Split(routed, "---")[0], "name: open", "name: twin")
	r := resolveManifests(t, orchardWith("HTTP/1"), routed, twin)
	for from, want := range map[string]point.Verdict{"orchard/press": point.Allowed, "road/crow": point.Depends} {
		namespace, name, _ := strings.Cut(from, "/")
		p := judgeAt(t, r, podEnd(namespace, name), 8000, get("GET", "/open"))[0]
		if p.Verdict != want || want == point.Depends && !strings.Contains(p.Because, "ages") {
			t.Errorf("%s: %s (%s), want %s", from, p.Verdict, p.Because, want)
		}
	}
}

// TestGRPCRoutes: gRPC is POST /service/method.
func TestGRPCRoutes(t *testing.T) {
	r := resolveManifests(t, orchardWith("gRPC"), `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: pick, namespace: orchard}
spec:
  parentRefs: [{group: policy.linkerd.io, kind: Server, name: apple}]
  rules: [{matches: [{method: {service: tree.Apples, method: Pick}}]}]`, routed)
	press := podEnd("orchard", "press")
	for call, want := range map[string]point.Verdict{"Pick": point.Allowed, "Shake": point.Denied} {
		a := &request.Answer{Gateway: topology.None, Request: request.Request{Protocol: request.GRPC, Service: "tree.Apples", Call: call}}
		if p := judgeAt(t, r, press, 8000, a)[0]; p.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", call, p.Verdict, p.Because, want)
		}
	}
	if p := judgeAt(t, r, press, 8000, get("GET", "/open"))[0]; p.Verdict != point.Denied {
		t.Errorf("a route of HTTP counts on a Server for gRPC: %s", p.Because)
	}
}

// TestDeniedProbes: a probe is denied for certain where no route takes it, or the one that does is not
// granted to the networks that probes come from.
func TestDeniedProbes(t *testing.T) {
	health := func(spec string) string {
		return `
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: health, namespace: orchard}
spec: {parentRefs: [{kind: Server, name: apple, group: policy.linkerd.io}], rules: [{matches: [{path: {value: /up, type: Exact}}]}]}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: NetworkAuthentication
metadata: {name: nodes, namespace: orchard}
spec: {networks: [{cidr: 10.9.0.0/16}]}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: health, namespace: orchard}
spec: {targetRef: {group: policy.linkerd.io, kind: HTTPRoute, name: health}, requiredAuthenticationRefs: [` + spec + `]}`
	}
	for name, c := range map[string]struct {
		manifests []string
		says      string // "": nothing
	}{
		"no routes":               {[]string{orchardWith("HTTP/1")}, ""},
		"no route takes it":       {[]string{orchardWith("HTTP/1"), routed}, "/up (404"},
		"a route granted to some": {[]string{orchardWith("HTTP/1"), health("{kind: ServiceAccount, name: press}")}, "/up (403"},
		"a grant for the nodes": {[]string{orchardWith("HTTP/1"), health(
			"{group: policy.linkerd.io, kind: NetworkAuthentication, name: nodes}")}, ""},
		"the Server lets everybody in": {[]string{strings.Replace(orchardWith("HTTP/1"), "proxyProtocol",
			"accessPolicy: all-unauthenticated, proxyProtocol", 1), health("{kind: ServiceAccount, name: press}")}, ""},
		"a Server that asks no routes": {[]string{orchardWith("opaque"), routed}, ""},
		"a workload outside of the mesh": {[]string{strings.Replace(orchardWith("HTTP/1"), "inject: enabled", "inject: disabled", 1),
			routed}, ""},
	} {
		found := findDeniedProbes(resolveManifests(t, c.manifests...))
		said := slices.ContainsFunc(found, func(p model.Problem) bool {
			return strings.Contains(p.Message, c.says) && strings.Contains(p.Message, "port 8000 of pod/orchard/apple")
		})
		if len(found) > 0 != (c.says != "") || c.says != "" && !said {
			t.Errorf("%s: %v", name, found)
		}
	}
}
