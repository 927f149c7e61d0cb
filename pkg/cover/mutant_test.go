package cover

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

const kinds = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Cache.x.io
targets: [Gateway, HTTPRoute]
rules: fields
`

const input = `
apiVersion: x.io/v1
kind: Cache
metadata: {name: a, namespace: n}
spec:
  targetRefs:
  - {group: gateway.networking.k8s.io, kind: Gateway, name: one}
  - {group: gateway.networking.k8s.io, kind: Gateway, name: two}
  overrides:
    ttl: 5
    keys: {header: {name: x, weights: [1, 2]}}
    zones: {a: {b: {c: {d: 1}}, e: yes}}
---
apiVersion: x.io/v1
kind: Cache
metadata: {name: b, namespace: n}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: one}
  ttl: 7
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: n}
spec:
  parentRefs: [{name: one}, {name: two}]
  rules:
  - filters: [{type: URLRewrite}, {type: ExtensionRef, extensionRef: {group: x.io, kind: X, name: x}}]
  - name: second
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: g, namespace: n}
`

func resolution(t *testing.T) *resolve.Resolution {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(input)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(kinds)}}, nil,
		descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, c.Settings()), c)
}

// TestMutants: what is changed, one thing at a time, and nothing else.
func TestMutants(t *testing.T) {
	r := resolution(t)
	var got []string
	for _, m := range Mutants(r) {
		out := m.Apply(r.Snapshot)
		object := out.Get(m.Object)
		after := "gone"
		if object != nil {
			after = string(model.AppendJSON(nil, object.Body.Field("spec")))
		}
		for _, o := range out.Objects {
			if o.Ref != m.Object && !slices.Contains(r.Snapshot.Objects, o) {
				t.Errorf("%s of %s changes %s", m.Change, m.Object, o.Ref)
			}
		}
		if before := string(model.AppendJSON(nil, r.Snapshot.Get(m.Object).Body.Field("spec"))); before == after {
			t.Errorf("%s %s of %s changes nothing", m.Change, m.Part, m.Object)
		}
		got = append(got, fmt.Sprintf("%s %s %s", m.Change, m.Object.Name, m.Part))
	}
	want := `PolicyDeleted a 
PolicyDeleted b 
SettingRemoved a spec.overrides.keys.header
SettingRemoved a spec.overrides.keys.header.name
SettingRemoved a spec.overrides.keys.header.weights
SettingRemoved a spec.overrides.ttl
SettingRemoved a spec.overrides.zones.a
SettingRemoved a spec.overrides.zones.a.b
SettingRemoved a spec.overrides.zones.a.e
NumberRaised a spec.overrides.keys.header.weights.0
NumberRaised a spec.overrides.keys.header.weights.1
NumberRaised a spec.overrides.ttl
NumberRaised a spec.overrides.zones.a.b.c.d
NumberRaised b spec.ttl
OverrideLowered a spec.overrides
TargetRemoved a spec.targetRefs.0
TargetRemoved a spec.targetRefs.1
GrantDeleted g 
FilterRemoved r spec.rules.0.filters.1
ParentRemoved r spec.parentRefs.0
ParentRemoved r spec.parentRefs.1
RuleDeleted r spec.rules.0
RuleDeleted r spec.rules.1`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s", text)
	}
}
