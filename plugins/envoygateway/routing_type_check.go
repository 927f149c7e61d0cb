package envoygateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// checkRoutingType says where the routing type of a listener's policy is not found: the controller
// looks for it by the sectionName of the route's parentRef, and a route without one uses the
// listener all the same. It is no fault of the policy.
func checkRoutingType(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	if p.Object.Body.At("spec", "routingType").IsNull() {
		return "", nil
	}
	var routes []string
	for _, t := range p.Refs {
		if t.Ref.Section == "" || isRoute(t.Ref.GroupKind()) {
			continue
		}
		for _, gk := range gatewayapi.HTTPRouteKinds() {
			for _, o := range in.OfKind(gk) {
				for _, parent := range o.Body.At("spec", "parentRefs").Items {
					if namesWhole(o, parent, t.Ref.WithoutSection()) {
						routes = append(routes, o.Ref.String())
					}
				}
			}
		}
	}
	if len(routes) == 0 {
		return "", nil
	}
	slices.Sort(routes)
	return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf(
			"%s: the parentRef has no sectionName, so the controller does not find the routingType of the listener's policy there; it is shown as if it did", strings.Join(slices.Compact(routes), ", ")),
		Hint: "name the listener in the parentRef, or set routingType for the whole Gateway or ListenerSet"}.At(
		p.Object)}
}

// namesWhole reports whether a parentRef names the object without a section.
func namesWhole(route *model.Object, parent model.Body, object model.Ref) bool {
	ref := model.Ref{Group: parent.Text("group"), Kind: parent.Text("kind"), Namespace: parent.Text("namespace"),
		Name: parent.Text("name")}
	if parent.Field("group").IsNull() {
		ref.Group = gatewayGroup
	}
	if ref.Kind == "" {
		ref.Kind = "Gateway"
	}
	if ref.Namespace == "" {
		ref.Namespace = route.Ref.Namespace
	}
	return ref == object && parent.Text("sectionName") == ""
}
