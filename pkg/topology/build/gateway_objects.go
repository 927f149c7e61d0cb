package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// GatewayObjects says what names an implementation gives to the Services and workloads that it makes
// for its Gateways.
type GatewayObjects struct {
	Controllers []string // whose Gateways
	// Classes are the names of the classes that the implementation itself makes, which are seldom in
	// manifests, with their controllers.
	Classes map[string]string
	// Names are the names of what is made for a Gateway of a controller in its namespace. "": it may
	// be any of the implementation's.
	Names func(gateway *model.Object, controller string) []string
	// Elsewhere are the names of what is made in a namespace that the Gateway does not tell; nil:
	// nothing is.
	Elsewhere func(gateway *model.Object) []string
}

// gatewayObjectKinds are the kinds of what implementations make for Gateways.
var gatewayObjectKinds = [...]model.GroupKind{{Kind: "Service"}, {Kind: "ServiceAccount"}, {Kind: "ConfigMap"},
	{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "DaemonSet"}}

// AddGatewayObjects adds the objects that an implementation makes for its Gateways: they exist
// without being in the input. Where the input does not tell which implementation a Gateway belongs
// to, the objects of each count, except those with the name of the Gateway: many things have it.
func (b *Builder) AddGatewayObjects(g GatewayObjects) {
	b.AddMaker(func(in *model.Snapshot, made func(object, by model.Ref)) {
		for _, o := range in.OfKind(gatewayapi.GatewayKind) {
			controller, known := g.controllerOf(in, o)
			if known && !slices.Contains(g.Controllers, controller) {
				continue
			}
			makeAll := func(namespace string, names []string) {
				for _, name := range names {
					for _, gk := range gatewayObjectKinds {
						if known || name != o.Ref.Name {
							made(model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: name}, o.Ref)
						}
					}
				}
			}
			makeAll(o.Ref.Namespace, g.Names(o, controller))
			if g.Elsewhere != nil {
				makeAll("", g.Elsewhere(o))
			}
		}
	})
}

// controllerOf returns the controller of a Gateway's class, and whether the input tells it.
func (g *GatewayObjects) controllerOf(in *model.Snapshot, gateway *model.Object) (controller string, known bool) {
	name := gateway.Text("spec", "gatewayClassName")
	if class := in.Get(model.Ref{Group: gatewayapi.GatewayClassKind.Group, Kind: gatewayapi.GatewayClassKind.Kind,
		Name: name}); class != nil {
		return class.Text("spec", "controllerName"), true
	}
	controller, known = g.Classes[name]
	return controller, known
}
