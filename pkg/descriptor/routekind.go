package descriptor

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// routeKind is a kind of routes of a vendor's own, and that of the Gateway API that they are read
// like.
type routeKind struct {
	kind, like model.GroupKind
	parents    []model.GroupKind
}

// routeKinds reads a vendor's own kinds of routes.
func (r *vendorReader) routeKinds(n *yaml.Node) {
	r.List(n, func(e *yaml.Node) {
		var kind, like string
		var parents []string
		r.Object(e, map[string]form.Field{"kind": r.Text(&kind), "like": r.Text(&like), "parents": r.Texts(&parents)})
		at := slices.IndexFunc(gatewayapi.RouteKinds(), func(gk model.GroupKind) bool { return gk.Kind == like })
		switch gk := model.ParseGroupKind(kind); {
		case gk.Kind == "" || gk.Group == "":
			r.Fail(e, "field \"kind\" must be Kind.group")
		case at < 0:
			r.Fail(e, "field \"like\" must be a kind of routes of the Gateway API, not %q", like)
		default:
			own := routeKind{kind: gk, like: gatewayapi.RouteKinds()[at]}
			for _, name := range parents {
				if name != "Gateway" && name != "Service" {
					r.Fail(e, "field \"parents\" can have Gateway and Service, not %q", name)
					continue
				}
				own.parents = append(own.parents, model.GroupKind{Group: policy.DefaultGroup(name), Kind: name})
			}
			r.routes = append(r.routes, own)
			r.knowledge.kinds[gk] = true
		}
	})
}

// linkRoutes tells graphs of the vendors' own kinds of routes.
func (c *Catalog) linkRoutes(b *build.Builder) {
	for _, k := range c.routes {
		b.AddRouteKind(k.kind, k.like, k.parents...)
	}
}
