package descriptor

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// A dialect takes the place of the descriptor's fields where all Gateways are its vendor's.
func TestDialect(t *testing.T) {
	core := "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\nplural: paints\nsameTarget: stack\n"
	vendor := "apiVersion: dopolicy.dev/v1alpha1\nkind: Vendor\nname: v\ncontrollers: [v.io/c]\n---\n"
	dialect := "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\ndialect: true\n"
	object := func(group, kind, name string, spec map[string]any) *model.Object {
		return &model.Object{Ref: model.Ref{Group: group, Kind: kind, Name: name},
			Body: model.Pack(map[string]any{"spec": spec}, nil)}
	}
	world := func(controllers ...string) *model.Snapshot {
		objects := []*model.Object{object("x.io", "Paint", "p", nil)}
		for _, c := range controllers {
			objects = append(objects, object(policy.GatewayGroup, "Gateway", c, map[string]any{"gatewayClassName": c}))
			if c != "unknown" {
				objects = append(objects, object(policy.GatewayGroup, "GatewayClass", c,
					map[string]any{"controllerName": c}))
			}
		}
		return model.NewSnapshot(objects, nil)
	}
	c, err := NewCatalog([]form.Source{{Name: "core.yaml", Text: []byte(core)},
		{Name: "v.yaml", Text: []byte(vendor + dialect + "sameTarget: oldest\n")}}, nil, nil, Functions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		controllers []string
		want        policy.SameTarget
		said        bool
	}{{nil, policy.Stacked, false}, {[]string{"v.io/c"}, policy.Oldest, false}, {[]string{"o.io/c"}, policy.Stacked,
		false}, {[]string{"o.io/c", "v.io/c"}, policy.Stacked, true}, {[]string{"unknown",
		"v.io/c"}, policy.Stacked, true}} {
		kinds, problems := c.decideKinds(world(tc.controllers...))
		if k := kinds[0]; k.SameTarget != tc.want || k.Plural != "paints" {
			t.Errorf("%v: %s %s", tc.controllers, k.SameTarget, k.Plural)
		}
		if said := slices.ContainsFunc(problems,
			func(p model.Problem) bool { return p.Code == model.NotEvaluated }); said != tc.said {
			t.Errorf("%v: %v", tc.controllers, problems)
		}
	}
	for _, tc := range []struct{ text, want string }{
		{vendor + dialect + "sameTarget: newest\n", `"newest" is not one of`},
		{vendor + strings.Replace(dialect, "Paint", "Print", 1), "there is no descriptor of Print.x.io"},
		{dialect, `a dialect needs a vendor with "controllers"`},
	} {
		if _, err := NewCatalog([]form.Source{{Name: "core.yaml", Text: []byte(core)},
			{Name: "v.yaml", Text: []byte(tc.text)}}, nil, nil, Functions{}); err == nil ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v", tc.text, err)
		}
	}
}
