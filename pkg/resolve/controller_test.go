package resolve

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// A vendor's policies hold through the Gateways of its controllers, and of classes that the input
// does not tell about.
func TestControllers(t *testing.T) {
	for _, c := range []struct{ name, vendor, class, setting, want string }{
		{"any", "", "other.io/c", "", "wall=red(g)"},
		{"its own", "controllers: [mine.io/c]\n", "mine.io/c", "", "wall=red(g)"},
		{"another's", "controllers: [mine.io/c]\n", "other.io/c", "", ""},
		{"the chosen one", "controllers: [mine.io/c]\nsettings: [{name: controllerName, doc: d}]\n", "other.io/c",
			"v.controllerName=other.io/c", "wall=red(g)"},
		{"not known", "controllers: [mine.io/c]\n", "", "", "wall=red(g)"},
	} {
		var in input
		in.add(t, gateway("east", "a"), route("shop", "east", "svc"), service("svc"),
			paint("infra/g", "Gateway/east", "wall: red"))
		if c.class != "" {
			in.add(t,
				"{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: c}, spec: {controllerName: "+c.class+"}}")
		}
		vendor := "apiVersion: dopolicy.dev/v1alpha1\nkind: Vendor\nname: v\n" + c.vendor + "---\n"
		text := vendor +
			"apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\ntargets: [Gateway, HTTPRoute]\n"
		var settings []string
		if c.setting != "" {
			settings = []string{c.setting}
		}
		catalog, err := descriptor.NewCatalog([]form.Source{{Name: "kinds.yaml", Text: []byte(text)}}, nil, settings,
			descriptor.Functions{})
		if err != nil {
			t.Fatal(err)
		}
		s := model.NewSnapshot(in.objects, nil)
		r := Run(s, build.Graph(s, catalog.Settings()), catalog)
		if c.want == "" {
			k := r.Kind(model.GroupKind{Group: "x.io", Kind: "Paint"})
			if id := r.Graph.Lookup(k.Policies[0].Refs[0].Ref)[0]; k.ManagesGateway(id) ||
				len(k.Contexts(r.Graph.Lookup(model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute",
					Namespace: "app", Name: "shop", Section: "r1"})[0])) != 0 {
				t.Errorf("%s: managed", c.name)
			}
			if !slices.ContainsFunc(r.Problems, func(p model.Problem) bool {
				return p.Code == model.NotReached &&
					p.Ref.Name == "east"
			}) {
				t.Errorf("%s: not said: %v", c.name, r.Problems)
			}
			continue
		}
		if got := r.results(t, "app:HTTPRoute/shop/r1"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
