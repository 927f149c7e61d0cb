package kuadrant

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// read loads manifests as the program does.
func read(t *testing.T, manifests ...string) *model.Snapshot {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(strings.Join(manifests, "\n---\n"))})
	if err != nil || len(in.Problems) > 0 {
		t.Fatal(err, in.Problems)
	}
	return in
}

// manifest is a policy of the kind in namespace app, on HTTPRoute route unless the spec, in flow
// style and without braces, says otherwise.
func manifest(kind, name, spec string) string {
	if !strings.Contains(spec, "targetRef") {
		spec = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}, " + spec
	}
	version := "v1"
	if kind == "TokenRateLimitPolicy" {
		version = "v1alpha1"
	}
	return "apiVersion: kuadrant.io/" + version + "\nkind: " + kind + "\nmetadata: {name: " + name +
		", namespace: app}\nspec: {" + spec + "}"
}

func group(kind string) model.GroupKind { return model.GroupKind{Group: "kuadrant.io", Kind: kind} }

// policies are the objects of a kind with the given specs, named a, b, c and so on.
func policies(t *testing.T, kind string, specs ...string) []*model.Object {
	t.Helper()
	var texts []string
	for i, spec := range specs {
		texts = append(texts, manifest(kind, string(rune('a'+i)), spec))
	}
	return read(t, texts...).OfKind(group(kind))
}

func catalog(t *testing.T, settings ...string) *descriptor.Catalog {
	t.Helper()
	c, err := plugin.NewCatalog([]plugin.Plugin{Plugin()}, nil, settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
