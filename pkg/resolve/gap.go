package resolve

import (
	"maps"
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Gap is objects that a cluster did not let us read and that may change an answer.
type Gap struct {
	Kind      model.GroupKind
	Namespace string // "": any, or the kind has none
}

// Gaps are what could not be read and matters for a kind.
type Gaps struct{ *Kind }

// Gaps are those of the kind.
func (k *Kind) Gaps() Gaps { return Gaps{k} }

// At lists what may change what is in force of the kind at a node, and could not be read; nil for manifests and clusters that were
// read whole. A gap in a namespace from which nothing can get there is not in it.
func (k Gaps) At(id topology.NodeID) []Gap {
	f := k.finder()
	if f == nil {
		return nil
	}
	f.anywhere()
	switch k.res.Node(id).Role {
	case topology.Backend, topology.Port, topology.Opaque: // what no route leads to may be a backend
		f.routes()
	}
	f.above(id)
	return f.sorted()
}

// Below lists what may change what is in force of the kind at a node or below it, and could not be read.
func (k Gaps) Below(id topology.NodeID) []Gap { return k.below([]topology.NodeID{id}) }

// Of lists what may change what becomes of a policy of the kind at any of its targets and below them, and could not be read.
func (k Gaps) Of(p *policy.Policy) []Gap {
	if k.Scope != nil {
		return k.below(nil)
	}
	return k.below(k.targetsOf(p))
}

// Ref lists what could not be read and may be a target of a reference.
func (k Gaps) Ref(t policy.TargetRef) []Gap {
	f := k.finder()
	if f == nil {
		return nil
	}
	gk := t.Ref.GroupKind()
	if k.Dialects && !k.Allows(t.Ref) { // another dialect may
		f.any(classKind)
		f.any(gatewayKind)
	}
	if t.Ref.Section != "" && gk.Group != gatewayKind.Group { // the ports of some backends are those that routes name
		f.routes()
	}
	if t.InSets && t.Ref.Section != "" {
		f.sets()
	}
	switch {
	case t.Selects == nil && f.cluster.MissesRef(t.Ref), t.Selects != nil && !t.Selects.Wide():
		f.in(gk, t.Ref.Namespace)
	case t.Selects != nil:
		f.any(gk)
		f.any(namespaceKind)
		f.any(grantKind)
	}
	return f.sorted()
}

func (k Gaps) below(ids []topology.NodeID) []Gap {
	f := k.finder()
	if f == nil {
		return nil
	}
	f.anywhere()
	for _, id := range ids {
		f.above(id)
		switch k.res.Node(id).Role {
		case topology.GatewayClass, topology.Namespace:
			f.any(gatewayKind)
			f.below()
		case topology.Gateway, topology.ListenerSet, topology.Listener, topology.Frontend, topology.Backend, topology.Port, topology.Opaque:
			f.below()
		case topology.Route, topology.Rule:
			f.backends()
		}
	}
	return f.sorted()
}

// gapFinder collects the gaps that matter for a kind.
type gapFinder struct {
	res     *Resolution
	k       *Kind
	cluster *model.Cluster
	found   map[Gap]bool
	seen    map[topology.NodeID]bool
}

// finder is nil if there are no gaps.
func (k Gaps) finder() *gapFinder {
	cluster := k.res.Snapshot.Cluster
	if cluster == nil || len(cluster.Gaps) == 0 {
		return nil
	}
	return &gapFinder{res: k.res, k: k.Kind, cluster: cluster, found: map[Gap]bool{}, seen: map[topology.NodeID]bool{}}
}

func (f *gapFinder) sorted() []Gap {
	return slices.SortedFunc(maps.Keys(f.found), func(a, b Gap) int {
		return model.Gap{Kind: a.Kind, Namespace: a.Namespace}.Compare(model.Gap{Kind: b.Kind, Namespace: b.Namespace})
	})
}

// any adds the gaps of a kind, wherever they are.
func (f *gapFinder) any(gk model.GroupKind) {
	if f.cluster.MissesAny(gk) {
		f.found[Gap{Kind: gk}] = true
	}
}

// in adds the gap of a kind in a namespace, if there is one.
func (f *gapFinder) in(gk model.GroupKind, namespace string) {
	if f.cluster.Misses(gk, namespace) {
		f.found[Gap{gk, namespace}] = true
	}
}

// anywhere adds the gaps that matter at every node: of policies that need not be where their targets are, or whose targets have no
// namespace, of such targets, and of what the kind looks at.
func (f *gapFinder) anywhere() {
	if f.k.Namespaces != policy.OwnNamespace || f.mayTarget(classKind) {
		f.any(f.k.GroupKind)
	}
	if slices.ContainsFunc(f.k.Refs, policy.RefForm.Abroad) {
		f.any(f.k.GroupKind)
		f.any(namespaceKind)
		f.any(grantKind)
	}
	if f.k.AboutWorkloads() { // policies are found by what they select
		f.any(f.k.GroupKind)
	}
	for _, gk := range f.k.Members {
		f.any(gk)
	}
	if f.k.ByController() {
		f.any(classKind)
	}
	for _, gk := range f.k.Reads {
		f.any(gk)
	}
	if f.k.Dialects {
		f.any(gatewayKind)
	}
	if f.res.Graph.Merging() { // any Gateway may have the place of a listener
		f.any(gatewayKind)
	}
	for _, gk := range []model.GroupKind{classKind, namespaceKind} {
		if f.mayTarget(gk) {
			f.any(gk)
		}
	}
}

// routes adds the gaps of routes, any of which may lead to a backend or hang on a listener.
func (f *gapFinder) routes() {
	for _, gk := range topology.RouteKinds() {
		if f.k.Passes(gk) {
			f.any(gk)
		}
	}
}

// backends adds the gaps that matter for what rules send to, where the kind has results there.
func (f *gapFinder) backends() {
	if f.k.Reaches(topology.Backend) || f.k.Reaches(topology.Port) {
		f.any(serviceKind)
		f.any(grantKind)
		f.any(f.k.GroupKind)
	}
}

// below adds the gaps that matter for what comes through a Gateway, or to a backend.
func (f *gapFinder) below() {
	f.routes()
	f.backends()
	f.sets()
	f.any(f.k.GroupKind)
	maps.Copy(f.found, f.res.openAttachments(f.cluster))
}

// openAttachments are the gaps that leave open where any of the routes is attached. They are the same for every kind.
func (r *Resolution) openAttachments(cluster *model.Cluster) map[Gap]bool {
	if r.open == nil {
		r.open = map[Gap]bool{}
		all := gapFinder{res: r, cluster: cluster, found: r.open}
		for _, id := range r.Graph.Order(topology.Traffic) {
			if r.Node(id).Role == topology.Route {
				all.attachments(id)
			}
		}
	}
	return r.open
}

// attachments adds the gaps that leave open where a route is attached: a parent, or the labels of its namespace.
func (f *gapFinder) attachments(route topology.NodeID) {
	if f.res.Graph.AsksForDefaults(route) {
		f.any(gatewayKind)
	}
	for _, a := range f.res.Graph.Attachments(route) {
		switch {
		case topology.IsListenerSet(a.Parent.GroupKind()) && !a.Missing:
			f.sets()
		case a.State != topology.Unknown:
		case a.Missing:
			f.in(a.Parent.GroupKind(), a.Parent.Namespace)
		case topology.MeshParent(a.Parent.GroupKind()): // a route of another kind could have it
			for _, gk := range topology.RouteKinds() {
				f.in(gk, f.res.Node(route).Ref.Namespace)
			}
		case f.cluster.Misses(namespaceKind, f.res.Node(route).Ref.Namespace):
			f.found[Gap{Kind: namespaceKind}] = true
		}
	}
}

// above adds the gaps in the namespaces of a node and of all above it, from which traffic comes.
func (f *gapFinder) above(id topology.NodeID) {
	if f.seen[id] {
		return
	}
	f.seen[id] = true
	n := f.res.Node(id)
	namespace := n.Ref.Namespace
	if namespace != "" {
		f.in(f.k.GroupKind, namespace)
	}
	if n.Object == nil {
		f.in(n.Ref.GroupKind(), namespace)
	}
	if n.Role == topology.ListenerSet {
		f.sets()
	}
	if f.k.Namespaces == policy.WithGrant && slices.ContainsFunc(f.k.attached[id].policies, func(a policy.Attached) bool { return a.Policy.Ref().Namespace != namespace }) {
		f.in(grantKind, namespace)
	}
	if int(id) >= f.res.Graph.Len() {
		return
	}
	f.attachments(id)
	for _, p := range f.res.Graph.Parents(f.k.Family, id) {
		if n.Role == topology.Backend || n.Role == topology.Port {
			if f.res.Node(p).Ref.Namespace != namespace { // by a grant that may be there
				f.in(grantKind, namespace)
			}
		}
		f.above(p)
	}
}

// The kinds whose gaps matter beside those of the nodes.
var (
	classKind     = model.GroupKind{Group: gatewayv1.GroupName, Kind: "GatewayClass"}
	gatewayKind   = model.GroupKind{Group: gatewayv1.GroupName, Kind: "Gateway"}
	grantKind     = model.GroupKind{Group: gatewayv1.GroupName, Kind: "ReferenceGrant"}
	serviceKind   = model.GroupKind{Kind: "Service"}
	namespaceKind = model.GroupKind{Kind: "Namespace"}
)

// mayTarget reports whether policies of the kind may be attached to whole objects of a kind.
func (f *gapFinder) mayTarget(gk model.GroupKind) bool {
	return f.k.Targets == nil || slices.ContainsFunc(f.k.Targets, func(t policy.TargetForm) bool { return t.GroupKind == gk })
}

// Unread names the lists that are gaps, as an administrator would: httproutes.gateway.networking.k8s.io in shop.
func (r *Resolution) Unread(gaps []Gap) []string {
	var out []string
	for _, g := range gaps {
		served := r.Snapshot.Cluster.Serves(g.Kind)
		if served == nil {
			served = &model.ServedKind{GroupKind: g.Kind, Plural: descriptor.Plural(g.Kind.Kind)}
		}
		name := served.Resource()
		if g.Namespace != "" {
			name += " in " + g.Namespace
		}
		out = append(out, name)
	}
	return out
}
