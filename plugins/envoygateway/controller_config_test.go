package envoygateway

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestFindPatchState(t *testing.T) {
	release := func(values map[string]any) *model.Object {
		return &model.Object{Ref: model.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "eg",
			Name: "eg"}, Body: model.Pack(map[string]any{"spec": map[string]any{"values": values}}, nil)}
	}
	text := func(config string) *model.Object {
		return &model.Object{Ref: model.Ref{Kind: "ConfigMap", Namespace: "eg", Name: "config"},
			Body: model.Pack(map[string]any{"data": map[string]any{"envoy-gateway.yaml": config}}, nil)}
	}
	unrendered := []model.Omission{{By: "helmrelease/eg/eg", Why: "is not rendered", Namespace: "eg"}}
	operator := []model.Omission{{By: "Cluster db/pg", Kinds: []model.GroupKind{{Kind: "Service"}}}}
	for name, c := range map[string]struct {
		objects   []*model.Object
		omissions []model.Omission
		want      patchState
	}{
		"nothing":     {nil, nil, patchesOff},
		"an operator": {nil, operator, patchesOff},
		"a release":   {nil, unrendered, patchesUnknown},
		"on in a release": {[]*model.Object{release(map[string]any{"a": map[string]any{patchSwitch: true}})},
			unrendered, patchesOn},
		"off in a release":          {[]*model.Object{release(map[string]any{patchSwitch: false})}, unrendered, patchesOff},
		"on in a text":              {[]*model.Object{text("api:\n  enableEnvoyPatchPolicy: true\n")}, nil, patchesOn},
		"a comment in a text":       {[]*model.Object{text("# enableEnvoyPatchPolicy: true\n")}, nil, patchesOff},
		"off in a text, and beside": {[]*model.Object{text("enableEnvoyPatchPolicy: false\n")}, unrendered, patchesOff},
	} {
		in := model.NewSnapshot(c.objects, nil)
		in.Omissions = c.omissions
		if got := findPatchState(in); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
