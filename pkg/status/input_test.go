package status

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// kinds describes a kind that merges, one of which the first on a target stays alone, one that is
// rejected in conflicts, and a direct one.
const kinds = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Paint.x.io
targets: [Gateway, Gateway/listener, HTTPRoute, HTTPRoute/rule, Namespace]
content: {condition: when, unset: [unset]}
fold: bottomUp
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Stain.x.io
extends: Paint.x.io
sameTarget: first
status: {inForce: {type: Holds, all: Whole, some: Partly, none: Beaten, noScope: Idle}}
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Gloss.x.io
extends: Paint.x.io
sameTarget: conflict
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Seal.x.io
class: direct
targets: [Service, Service/port]
namespaces: grant`

// base is gateway/demo/gw with listeners web and api, httproute/demo/shop with rules cart and rest
// on both, and service/demo/web behind it.
const base = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
spec: {controllerName: example.com/controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: demo}
spec: {gatewayClassName: class, listeners: [{name: web, port: 80, protocol: HTTP}, {name: api, port: 81, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: demo}
spec: {parentRefs: [{name: gw}], rules: [{name: cart, backendRefs: [{name: web, port: 80}]}, {name: rest, backendRefs: [{name: web, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: demo}
spec: {ports: [{name: http, port: 80}]}`

const (
	onGateway = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw}, "
	onAPI     = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw, sectionName: api}, "
	onRoute   = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}, "
	onCart    = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop, sectionName: cart}, "
	onService = `targetRef: {group: "", kind: Service, name: web}, `
)

// object is a manifest of a policy; its spec is in flow style without braces. A day is the creation
// time, 0 for none.
func object(kind, name string, day int, spec string) string {
	created := ""
	if day > 0 {
		created = fmt.Sprintf(", creationTimestamp: \"2025-06-%02dT00:00:00Z\"", day)
	}
	return fmt.Sprintf("apiVersion: x.io/v1\nkind: %s\nmetadata: {name: %s, namespace: demo%s}\nspec: {%s}", kind,
		name, created, strings.TrimSuffix(spec, ", "))
}

// resolved reads the base and the given manifests.
func resolved(t *testing.T, manifests ...string) *resolve.Resolution {
	t.Helper()
	text := strings.Join(append([]string{base}, manifests...), "\n---\n")
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text)})
	if err != nil || len(in.Problems) > 0 {
		t.Fatal(err, in.Problems)
	}
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(kinds)}}, nil,
		descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, c.Settings()), c)
}

func kind(t *testing.T, r *resolve.Resolution, name string) *resolve.Kind {
	t.Helper()
	k := r.Kind(model.GroupKind{Group: "x.io", Kind: name})
	if k == nil {
		t.Fatalf("no kind %s", name)
	}
	return k
}

// fate is what became of the policy of that name.
func fate(t *testing.T, r *resolve.Resolution, kindName, name string) *PolicyOutcome {
	t.Helper()
	for _, f := range Outcomes(r, kind(t, r, kindName)) {
		if f.Policy.Ref().Name == name {
			return f
		}
	}
	t.Fatalf("no policy %s", name)
	return nil
}

// short names objects by name, with the section.
func short(refs []model.Ref) string {
	var out []string
	for _, r := range refs {
		name := r.Name
		if r.Section != "" {
			name += "/" + r.Section
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// usual is the conditions of a policy in one line.
func usual(t *testing.T, r *resolve.Resolution, kindName, name string) string {
	t.Helper()
	k := kind(t, r, kindName)
	var out []string
	ancestors := WriteUsual(Input{Resolution: r, Kind: k, Outcome: fate(t, r, kindName, name)})
	if len(ancestors) != 1 || ancestors[0].Ref != nil || ancestors[0].Controller != "" {
		t.Fatalf("%s: %+v", name, ancestors)
	}
	for _, c := range ancestors[0].Conditions {
		out = append(out, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(out, " | ")
}
