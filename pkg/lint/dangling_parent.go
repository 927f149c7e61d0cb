package lint

import (
	"cmp"
	"strconv"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// findDanglingParents reports parentRefs that name what is not there, though it is known what is
// (gatewayapi G9). A Gateway that is missing from files may exist outside of them; that is said
// elsewhere.
func findDanglingParents(r *resolve.Resolution) []model.Problem {
	g := r.Graph
	var out []model.Problem
	for _, id := range g.Order(topology.All) {
		n := g.Node(id)
		if n.Role != topology.Route || n.Object == nil || n.Hop > 0 {
			continue
		}
		for _, a := range g.ParentVerdicts(id) {
			if a.State != topology.NoMatchingParent || a.Missing || a.Implicit || !isDangling(g, a) {
				continue
			}
			p := model.Problem{Severity: model.Warning, Code: model.ParentNotFound,
				Message: "a parentRef has no effect: " + a.Reason, Hint: suggestParent(r, a)}.At(n.Object)
			origin := findParentOrigin(n.Object, a.Parent)
			p.Origin = &origin
			if len(g.Lookup(a.Parent.WithoutSection())) == 0 {
				missing := a.Parent.WithoutSection()
				p.MissingRef = &missing
			}
			out = append(out, p)
		}
	}
	return out
}

// isDangling reports whether a parentRef names an object, or a section or port of one, that is not
// there. A parentRef that is refused is not dangling.
func isDangling(g *topology.Graph, a topology.Attachment) bool {
	if gk := a.Parent.GroupKind(); gk != gatewayKind && !gatewayapi.IsListenerSet(gk) && !gatewayapi.IsMeshParent(gk) {
		return false
	}
	if len(g.Lookup(a.Parent.WithoutSection())) == 0 {
		return true
	}
	return (a.Parent.Section != "" || a.Port != 0) && len(g.Sections(a.Parent.WithoutSection())) > 0
}

var gatewayKind = model.GroupKind{Group: gatewayv1.GroupName, Kind: "Gateway"}

// findParentOrigin is where a route names a parent.
func findParentOrigin(route *model.Object, parent model.Ref) model.Origin {
	for i, ref := range route.Body.At("spec", "parentRefs").Items {
		if ref.Text("name") == parent.Name && ref.Text("sectionName") == parent.Section &&
			cmp.Or(ref.Text("namespace"), route.Ref.Namespace) == parent.Namespace {
			return route.OriginOf("spec", "parentRefs", strconv.Itoa(i))
		}
	}
	return route.Origin
}

// suggestParent names what the parent has, or what it may be called.
func suggestParent(r *resolve.Resolution, a topology.Attachment) string {
	if len(r.Graph.Lookup(a.Parent.WithoutSection())) > 0 {
		if sections := r.Graph.Sections(a.Parent.WithoutSection()); a.Parent.Section != "" && len(sections) > 0 {
			return "it has: " + strings.Join(sections, ", ")
		}
		return ""
	}
	var names []string
	for _, o := range r.Snapshot.OfKind(a.Parent.GroupKind()) {
		if o.Ref.Namespace == a.Parent.Namespace {
			names = append(names, o.Ref.Name)
		}
	}
	if near := form.Nearest(a.Parent.Name, names); len(near) > 0 {
		return "did you mean " + model.Ref{Kind: a.Parent.Kind, Namespace: a.Parent.Namespace,
			Name: near[0]}.String() + "?"
	}
	return ""
}
