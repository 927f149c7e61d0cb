package kuma

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// resolveManifests resolves manifests as the program does.
func resolveManifests(t *testing.T, settings []string, manifests ...string) *resolve.Resolution {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(strings.Join(manifests, "\n---\n"))})
	if err != nil || len(in.Problems) > 0 {
		t.Fatal(err, in.Problems)
	}
	c, err := plugin.NewCatalog([]plugin.Plugin{Plugin()}, nil, settings)
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, c.Settings(), c.Links()...), c)
}

// harbour has a workload in the mesh with a Service, and clients: pilot is in the mesh, gull is not.
const harbour = `
apiVersion: v1
kind: Namespace
metadata: {name: harbour, labels: {kuma.io/sidecar-injection: enabled}}
---
apiVersion: v1
kind: Namespace
metadata: {name: sea}
---
apiVersion: v1
kind: Service
metadata: {name: crane, namespace: harbour}
spec: {selector: {app: crane}, ports: [{name: http, port: 80, targetPort: web}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: crane, namespace: harbour}
spec:
  template:
    metadata: {labels: {app: crane}}
    spec: {serviceAccountName: crane, containers: [{name: main, ports: [{containerPort: 7000, name: web}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pilot, namespace: harbour, labels: {app: pilot}}
spec: {serviceAccountName: pilot, containers: [{name: main}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gull, namespace: sea}
spec: {containers: [{name: main}]}
---
apiVersion: v1
kind: Pod
metadata: {name: tug, namespace: nowhere}
spec: {containers: [{name: main}]}`

// certified gives everybody in the mesh an identity.
const certified = `
apiVersion: kuma.io/v1alpha1
kind: MeshIdentity
metadata: {name: all, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {selector: {dataplane: {matchLabels: {}}}}`

// permission is a MeshTrafficPermission of the mesh with rules.
func permissionManifest(name, rules string) string {
	return "apiVersion: kuma.io/v1alpha1\nkind: MeshTrafficPermission\nmetadata: {name: " + name +
		", namespace: kuma-system, labels: {kuma.io/mesh: default}}\nspec: {targetRef: {kind: Mesh}, rules: [{default: {" + rules + "}}]}"
}

func tlsManifest(mode string) string {
	return "apiVersion: kuma.io/v1alpha1\nkind: MeshTLS\nmetadata: {name: tls, namespace: kuma-system, labels: {kuma.io/mesh: default}}\n" +
		"spec: {targetRef: {kind: Mesh}, rules: [{default: {mode: " + mode + "}}]}"
}

func oldManifest(name, action string) string {
	return strings.Replace(permissionManifest(name, ""), "rules: [{default: {}}]",
		"from: [{targetRef: {kind: Mesh}, default: {action: "+action+"}}]", 1)
}

const (
	allowPilot = "allow: [{spiffeID: {type: Exact, value: \"spiffe://default.default.mesh.local/ns/harbour/sa/pilot\"}}]"
	pilotID    = "default.default.mesh.local/ns/harbour/sa/pilot"
)

// TestPoints: permissions are asked of connections with TLS of the mesh, and of no others.
func TestPoints(t *testing.T) {
	zone := []string{"kuma.zone=default"}
	for _, c := range []struct {
		name      string
		settings  []string
		manifests []string
		from      string
		port      int
		want      point.Verdict
		says      string
		identity  string // "?": not known
		policies  string
	}{
		{"no permission", zone, []string{certified}, "pilot", 7000, point.Denied, "nobody gets in", pilotID, ""},
		{"an allow for the identity", zone, []string{certified, permissionManifest("p", allowPilot)}, "pilot", 7000, point.Allowed, "allow", pilotID, "p"},
		{"an allow by a prefix", zone, []string{certified, permissionManifest("p",
			"allow: [{spiffeID: {type: Prefix, value: \"spiffe://default.default.mesh.local/ns/harbour\"}}]")}, "pilot", 7000, point.Allowed, "allow", pilotID, "p"},
		{"an allow for somebody else", zone, []string{certified, permissionManifest("p", strings.Replace(allowPilot, "sa/pilot", "sa/mate", 1))},
			"pilot", 7000, point.Denied, "no permission allows it", pilotID, "p"},
		{"a deny before an allow", zone, []string{certified, permissionManifest("p", allowPilot), permissionManifest("q",
			"deny: [{spiffeID: {type: Prefix, value: \"spiffe://default.default.mesh.local/ns/harbour\"}}]")}, "pilot", 7000, point.Denied, "denies it", pilotID, "q p"},
		{"a shadow of a deny allows", zone, []string{certified, permissionManifest("p", strings.Replace(allowPilot, "allow", "allowWithShadowDeny", 1))},
			"pilot", 7000, point.Allowed, "allow", pilotID, "p"},
		{"a server name is not evaluated", zone, []string{certified, permissionManifest("p",
			"allow: [{sni: {type: Exact, value: a.example}}]")}, "pilot", 7000, point.Depends, "SNI", pilotID, "p"},
		{"a zone that is not known", nil, []string{certified, permissionManifest("p",
			"allow: [{spiffeID: {type: Exact, value: \"spiffe://default.east.mesh.local/ns/harbour/sa/pilot\"}}]")}, "pilot", 7000, point.Depends, "zone", pilotID, "p"},
		{"does not matter for another account", nil, []string{certified, permissionManifest("p",
			"allow: [{spiffeID: {type: Exact, value: \"spiffe://default.east.mesh.local/ns/harbour/sa/mate\"}}]")}, "pilot", 7000, point.Denied, "no permission", pilotID, "p"},
		{"plain text", zone, []string{certified, permissionManifest("p", allowPilot)}, "gull", 7000, point.Denied, "Strict", "", "p"},
		{"plain text, strict by a policy", zone, []string{certified, permissionManifest("p", allowPilot), tlsManifest("Strict")}, "gull", 7000, point.Denied, "Strict", "", "tls p"},
		{"plain text around the permissions", zone, []string{certified, permissionManifest("p", allowPilot), tlsManifest("Permissive")}, "gull", 7000, point.Bypassed, "Permissive", "", "p"},
		{"TLS does not get around", zone, []string{certified, tlsManifest("Permissive")}, "pilot", 7000, point.Denied, "nobody gets in", pilotID, ""},
		{"whether a client is in the mesh", zone, []string{certified, permissionManifest("p", allowPilot)}, "tug", 7000, point.Denied, "", "?", "p"},
		{"matters where it decides", zone, []string{certified, permissionManifest("p", strings.Replace(allowPilot, "harbour/sa/pilot", "nowhere/sa/default", 1))},
			"tug", 7000, point.Depends, "in the mesh", "?", "p"},
		{"no identity in the input", zone, []string{permissionManifest("p", allowPilot)}, "gull", 7000, point.Depends, "MeshIdentity", "", "p"},
		{"a port without a Service", zone, []string{certified, permissionManifest("p", allowPilot)}, "pilot", 7001, point.Depends, "no Service", pilotID, ""},
		{"by tags of 2.14", zone, []string{certified, strings.Replace(permissionManifest("p", ""), "rules: [{default: {}}]",
			"from: [{targetRef: {kind: MeshSubset, tags: {a: b}}, default: {action: Allow}}]", 1)}, "pilot", 7000, point.Depends, "tags", pilotID, "p"},
		{"for all of the mesh in 2.14, the strongest policy", zone, []string{certified, oldManifest("b", "Deny"), oldManifest("a", "Allow")}, "pilot", 7000, point.Allowed, "from[0] of meshtrafficpermission/kuma-system/a", pilotID, "b a"},
		{"identities by a template", zone, []string{strings.Replace(certified, "spec: {", "spec: {spiffeID: {trustDomain: \"{{ .Mesh }}.example\", path: '/app/{{ label \"app\" }}'}, ", 1),
			permissionManifest("p", "allow: [{spiffeID: {type: Exact, value: \"spiffe://default.example/app/pilot\"}}]")}, "pilot", 7000, point.Allowed, "allow", "default.example/app/pilot", "p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := resolveManifests(t, c.settings, append([]string{harbour}, c.manifests...)...)
			p := judgeFrom(t, r, c.from, c.port)
			if p.Verdict != c.want || !strings.Contains(p.Because, c.says) {
				t.Errorf("%s: %s, want %s: %s", p.Verdict, p.Because, c.want, c.says)
			}
			if c.identity == "?" && p.Identity != nil || c.identity != "?" && (p.Identity == nil || *p.Identity != c.identity) {
				t.Errorf("identity %v, want %s", p.Identity, c.identity)
			}
			var names []string
			for _, ref := range p.Policies {
				names = append(names, ref.Name)
			}
			if got := strings.Join(names, " "); got != c.policies {
				t.Errorf("policies %q, want %q", got, c.policies)
			}
			if !p.IgnoresRequests {
				t.Error("it looks at requests")
			}
		})
	}
}

// judgeFrom judges a connection of a Pod to the crane.
func judgeFrom(t *testing.T, r *resolve.Resolution, from string, port int) point.Point {
	t.Helper()
	var client, crane *model.Object
	for _, o := range r.Snapshot.Objects {
		switch {
		case o.Ref.Kind == "Pod" && o.Ref.Name == from:
			client = o
		case o.Ref.Kind == "Deployment":
			crane = o
		}
	}
	points := newLayer(r).Judge(&point.Hop{From: point.NewEnd(r, client), To: point.NewEnd(r, crane), Protocol: "TCP", Port: port})
	if len(points) != 1 {
		t.Fatalf("%d points", len(points))
	}
	return points[0]
}

// TestGatewayHops: a delegated gateway has its own identity if it connects to the Service; whether it has
// TLS is not known if it connects to Pods. In front of it there is nothing.
func TestGatewayHops(t *testing.T) {
	r := resolveManifests(t, nil, harbour, certified, permissionManifest("p", strings.Replace(allowPilot, "sa/pilot", "sa/front", 1)), `
apiVersion: v1
kind: Pod
metadata: {name: front, namespace: harbour, annotations: {kuma.io/gateway: enabled}}
spec: {serviceAccountName: front, containers: [{name: main}]}`)
	gateway := &model.Object{Ref: model.Ref{Kind: "Gateway", Namespace: "harbour", Name: "front"}}
	from := point.NewEnd(r, r.Snapshot.Get(model.Ref{Kind: "Pod", Namespace: "harbour", Name: "front"}))
	from.Gateway = gateway
	service := r.Snapshot.Get(model.Ref{Kind: "Service", Namespace: "harbour", Name: "crane"})
	crane := point.NewEnd(r, r.Snapshot.Get(model.Ref{Group: "apps", Kind: "Deployment", Namespace: "harbour", Name: "crane"}))
	for dials, want := range map[bool]point.Verdict{true: point.Allowed, false: point.Depends} {
		p := newLayer(r).Judge(&point.Hop{From: from, To: crane, Service: service, ToService: dials, Protocol: "TCP", Port: 7000})[0]
		if p.Verdict != want || p.Identity == nil || *p.Identity != "default.default.mesh.local/ns/harbour/sa/front" {
			t.Errorf("it connects to the Service: %v: %s (%s), identity %v", dials, p.Verdict, p.Because, p.Identity)
		}
	}
	if got := newLayer(r).Judge(&point.Hop{From: crane, To: from, Protocol: "TCP", Port: 80}); got != nil {
		t.Errorf("a point in front of a gateway: %v", got)
	}
}

// TestPodsNotInTheInput: whether a permission is about Pods is not known if it asks for labels that they
// may have.
func TestPodsNotInTheInput(t *testing.T) {
	for labels, want := range map[string]point.Verdict{"app: crane": point.Allowed, "tier: a": point.Depends, "app: ship": point.Denied} {
		p := strings.Replace(permissionManifest("p", allowPilot), "{kind: Mesh}", "{kind: Dataplane, labels: {"+labels+"}}", 1)
		manifests := strings.Replace(harbour, "targetPort: web", "targetPort: 7000", 1)
		r := resolveManifests(t, []string{"kuma.zone=default"}, manifests, certified, p)
		to := point.End{Object: point.NewAssumedPod("harbour", "crane", "", map[string]string{"app": "crane"}), Node: topology.None,
			LabelsUnknown: true, AccountUnknown: true}
		pilot := point.NewEnd(r, r.Snapshot.Get(model.Ref{Kind: "Pod", Namespace: "harbour", Name: "pilot"}))
		if got := newLayer(r).Judge(&point.Hop{From: pilot, To: to, Protocol: "TCP", Port: 7000})[0]; got.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", labels, got.Verdict, got.Because, want)
		}
	}
}

// TestPortThatIsNotKnown: permissions for the whole proxy hold for every port, those for one inbound may.
func TestPortThatIsNotKnown(t *testing.T) {
	for section, want := range map[string]point.Verdict{"": point.Allowed, ", sectionName: web": point.Depends} {
		p := strings.Replace(permissionManifest("p", allowPilot), "{kind: Mesh}", "{kind: Dataplane"+section+"}", 1)
		got := judgeFrom(t, resolveManifests(t, []string{"kuma.zone=default"}, harbour, certified, p), "pilot", 0)
		if got.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", section, got.Verdict, got.Because, want)
		}
	}
}

// TestMatchSpiffeID: of an identity of which a part is not known only what that part leaves open is.
func TestMatchSpiffeID(t *testing.T) {
	open := identity{{text: "spiffe://m."}, {text: "east", open: "zone"}, {text: ".local/ns/a/sa/"}, {open: "account"}}
	zone := identity{{text: "spiffe://m."}, {text: "east", open: "zone"}, {text: ".local/ns/a/sa/b"}}
	for _, c := range []struct {
		id          identity
		kind, value string
		want        selector.Truth
	}{
		{zone, "Exact", "spiffe://m.east.local/ns/a/sa/b", selector.Yes},
		{zone, "Exact", "spiffe://m.west.local/ns/a/sa/b", selector.Maybe},
		{zone, "Exact", "spiffe://m.west.local/ns/a/sa/c", selector.No},
		{zone, "Prefix", "spiffe://m.", selector.Yes},
		{zone, "Prefix", "spiffe://m.east.local/ns/a/", selector.Yes},
		{zone, "Prefix", "spiffe://m.west", selector.Maybe},
		{zone, "Prefix", "spiffe://n.", selector.No},
		{open, "Exact", "spiffe://m.east.local/ns/a/sa/b", selector.Maybe},
		{open, "Exact", "spiffe://m.east.local/ns/b/sa/b", selector.No},
		{zone, "Suffix", "b", selector.Maybe},
		{zone, "Exact", "REDACTED-1", selector.Maybe},
	} {
		holds, doubt := c.id.matchSpiffeID(model.Pack(map[string]any{"type": c.kind, "value": c.value}, nil))
		if holds != c.want || (doubt != "") != (c.want == selector.Maybe) {
			t.Errorf("%s %s: %v (%s), want %v", c.kind, c.value, holds, doubt, c.want)
		}
	}
}

// TestIdentityThatFitsBest: of several MeshIdentities the one with most labels counts, then the first by
// name; one without a selector selects nobody.
func TestIdentityThatFitsBest(t *testing.T) {
	of := func(name, selector string) string {
		return "apiVersion: kuma.io/v1alpha1\nkind: MeshIdentity\nmetadata: {name: " + name + ", namespace: kuma-system, labels: {kuma.io/mesh: default}}\n" +
			"spec: {" + selector + "spiffeID: {trustDomain: " + name + ".example}}"
	}
	all, some := "selector: {dataplane: {matchLabels: {}}}, ", "selector: {dataplane: {matchLabels: {app: pilot}}}, "
	r := resolveManifests(t, nil, harbour, of("a", ""), of("b", all), of("d", some), of("c", some))
	p := judgeFrom(t, r, "pilot", 7000)
	if p.Identity == nil || *p.Identity != "c.example/ns/harbour/sa/pilot" {
		t.Errorf("identity %v", p.Identity)
	}
}
