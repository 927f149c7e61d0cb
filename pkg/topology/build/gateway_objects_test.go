package build

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestGatewayObjects(t *testing.T) {
	in := model.NewSnapshot(objects(t, `
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: ours}, spec: {controllerName: example.com/mine}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: theirs}, spec: {controllerName: example.com/other}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: a, namespace: ns}, spec: {gatewayClassName: ours}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: b, namespace: ns}, spec: {gatewayClassName: theirs}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: c, namespace: ns}, spec: {gatewayClassName: builtin}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: d, namespace: ns}, spec: {gatewayClassName: unknown}}
`), nil)
	b := &Builder{}
	b.AddGatewayObjects(GatewayObjects{Controllers: []string{"example.com/mine"},
		Classes: map[string]string{"builtin": "example.com/mine"},
		Names: func(gateway *model.Object, controller string) []string {
			return []string{gateway.Ref.Name, gateway.Ref.Name + "-proxy"}
		},
		Elsewhere: func(gateway *model.Object) []string { return []string{"hash-" + gateway.Ref.Name} }})
	var got []string
	b.makerFuncs[0](in, func(to, by model.Ref) {
		if to.Kind == "Service" {
			got = append(got, to.String())
		}
	})
	slices.Sort(got)
	// that of an unknown class is not said to make what is called like itself
	want := "service/hash-a service/hash-c service/hash-d service/ns/a service/ns/a-proxy service/ns/c " +
		"service/ns/c-proxy service/ns/d-proxy"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("made: %s\nwant %s", s, want)
	}
}

func TestOmitters(t *testing.T) {
	b := &Builder{}
	for _, by := range []string{"a", "b"} {
		b.AddOmitter(func(_ *model.Snapshot, omit func(model.Omission)) { omit(model.Omission{By: by}) })
	}
	if got := b.collectOmissions(nil); len(got) != 2 || got[0].By != "a" || got[1].By != "b" {
		t.Errorf("got %v", got)
	}
}
