package resolve

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Gap is objects that a cluster did not let us read and that may change an answer.
type Gap struct {
	Kind      model.GroupKind
	Namespace string // "": any, or the kind has none
}

// Gaps are what could not be read and matters for a kind.
type Gaps struct{ *Kind }

// Gaps returns those of the kind.
func (k *Kind) Gaps() Gaps { return Gaps{k} }

// At lists what may change what is in force of the kind at a node, and could not be read; nil for
// manifests and clusters that were read whole. A gap in a namespace from which nothing can get
// there is not in it.
func (k Gaps) At(id topology.NodeID) []Gap {
	f := k.newFinder()
	if f == nil {
		return nil
	}
	f.addEverywhere()
	switch k.res.Node(id).Role {
	case topology.Backend, topology.Port, topology.Opaque: // what no route leads to may be a backend
		f.addRoutes()
	}
	f.addAbove(id)
	return f.sortedGaps()
}

// Below lists what may change what is in force of the kind at a node or below it, and could not be
// read.
func (k Gaps) Below(id topology.NodeID) []Gap { return k.belowNodes([]topology.NodeID{id}) }

// Of lists what may change what becomes of a policy of the kind at any of its targets and below
// them, and could not be read.
func (k Gaps) Of(p *policy.Policy) []Gap {
	if k.Scope != nil {
		return k.belowNodes(nil)
	}
	return k.belowNodes(k.NodesOf(p))
}

// OfRef lists what could not be read and may be a target of a reference.
func (k Gaps) OfRef(t policy.TargetRef) []Gap {
	f := k.newFinder()
	if f == nil {
		return nil
	}
	gk := t.Ref.GroupKind()
	if k.HasDialects && !k.AllowsTarget(t.Ref) { // another dialect may
		f.addAny(attach.ClassKind)
		f.addAny(attach.GatewayKind)
	}
	// the ports of some backends are those that routes name
	if t.Ref.Section != "" && gk.Group != attach.GatewayKind.Group {
		f.addRoutes()
	}
	if t.InListenerSets && t.Ref.Section != "" {
		f.addListenerSets()
	}
	switch {
	case t.Selection == nil && f.cluster.IsUnreadRef(t.Ref), t.Selection != nil && !t.Selection.CanCrossNamespaces():
		f.addIn(gk, t.Ref.Namespace)
	case t.Selection != nil:
		f.addAny(gk)
		f.addAny(attach.NamespaceKind)
		f.addAny(attach.GrantKind)
	}
	return f.sortedGaps()
}

func (k Gaps) belowNodes(ids []topology.NodeID) []Gap {
	f := k.newFinder()
	if f == nil {
		return nil
	}
	f.addEverywhere()
	for _, id := range ids {
		f.addAbove(id)
		switch k.res.Node(id).Role {
		case topology.GatewayClass, topology.Namespace:
			f.addAny(attach.GatewayKind)
			f.addBelow()
		case topology.Gateway, topology.ListenerSet, topology.Listener, topology.Frontend, topology.Backend,
			topology.Port, topology.Opaque:
			f.addBelow()
		case topology.Route, topology.Rule:
			f.addBackends()
		}
	}
	return f.sortedGaps()
}

// gapFinder collects the gaps that matter for a kind.
type gapFinder struct {
	res     *Resolution
	kind    *Kind
	cluster *model.Cluster
	found   map[Gap]bool
	seen    map[topology.NodeID]bool
}

// newFinder returns nil if there are no gaps.
func (k Gaps) newFinder() *gapFinder {
	cluster := k.res.Snapshot.Cluster
	if cluster == nil || len(cluster.Unread) == 0 {
		return nil
	}
	return &gapFinder{res: k.res, kind: k.Kind, cluster: cluster, found: map[Gap]bool{},
		seen: map[topology.NodeID]bool{}}
}

func (f *gapFinder) sortedGaps() []Gap {
	return slices.SortedFunc(maps.Keys(f.found), func(a, b Gap) int {
		return model.UnreadObjects{Kind: a.Kind, Namespace: a.Namespace}.Compare(model.UnreadObjects{Kind: b.Kind,
			Namespace: b.Namespace})
	})
}

// addAny adds the gaps of a kind, wherever they are.
func (f *gapFinder) addAny(gk model.GroupKind) {
	if f.cluster.HasUnread(gk) {
		f.found[Gap{Kind: gk}] = true
	}
}

// addIn adds the gap of a kind in a namespace, if there is one.
func (f *gapFinder) addIn(gk model.GroupKind, namespace string) {
	if f.cluster.IsUnread(gk, namespace) {
		f.found[Gap{gk, namespace}] = true
	}
}

// addEverywhere adds the gaps that matter at every node: of policies that need not be where their
// targets are, or whose targets have no namespace, of such targets, and of what the kind looks at.
func (f *gapFinder) addEverywhere() {
	if f.kind.Namespaces != policy.OwnNamespace || f.mayTarget(attach.ClassKind) {
		f.addAny(f.kind.GroupKind)
	}
	if slices.ContainsFunc(f.kind.Refs, policy.RefForm.CanCrossNamespaces) {
		f.addAny(f.kind.GroupKind)
		f.addAny(attach.NamespaceKind)
		f.addAny(attach.GrantKind)
	}
	if f.kind.HasResultsAtWorkloads() { // policies are found by what they select
		f.addAny(f.kind.GroupKind)
	}
	for _, gk := range f.kind.Members {
		f.addAny(gk)
	}
	if f.kind.DependsOnController() {
		f.addAny(attach.ClassKind)
	}
	for _, gk := range f.kind.Reads {
		f.addAny(gk)
	}
	if f.kind.HasDialects {
		f.addAny(attach.GatewayKind)
	}
	if f.res.Graph.MergesGateways() { // any Gateway may have the place of a listener
		f.addAny(attach.GatewayKind)
	}
	for _, gk := range []model.GroupKind{attach.ClassKind, attach.NamespaceKind} {
		if f.mayTarget(gk) {
			f.addAny(gk)
		}
	}
}

// addRoutes adds the gaps of routes, any of which may lead to a backend or be attached to a
// listener.
func (f *gapFinder) addRoutes() {
	for _, gk := range gatewayapi.RouteKinds() {
		if f.kind.PassesRoutes(gk) {
			f.addAny(gk)
		}
	}
}

// addBackends adds the gaps that matter for what rules send to, where the kind has results there.
func (f *gapFinder) addBackends() {
	if f.kind.HasResultsAt(topology.Backend) || f.kind.HasResultsAt(topology.Port) {
		f.addAny(attach.ServiceKind)
		f.addAny(attach.GrantKind)
		f.addAny(f.kind.GroupKind)
	}
}

// addBelow adds the gaps that matter for what comes through a Gateway, or to a backend.
func (f *gapFinder) addBelow() {
	f.addRoutes()
	f.addBackends()
	f.addListenerSets()
	f.addAny(f.kind.GroupKind)
	maps.Copy(f.found, f.res.findAttachmentGaps(f.cluster))
}

// findAttachmentGaps returns the gaps that leave open where any of the routes is attached. They are
// the same for every kind.
func (r *Resolution) findAttachmentGaps(cluster *model.Cluster) map[Gap]bool {
	if r.attachmentGaps == nil {
		r.attachmentGaps = map[Gap]bool{}
		all := gapFinder{res: r, cluster: cluster, found: r.attachmentGaps}
		for _, id := range r.Graph.Order(topology.Traffic) {
			if r.Node(id).Role == topology.Route {
				all.addAttachments(id)
			}
		}
	}
	return r.attachmentGaps
}

// addAttachments adds the gaps that leave open where a route is attached: a parent, or the labels
// of its namespace.
func (f *gapFinder) addAttachments(route topology.NodeID) {
	if f.res.Graph.WantsDefaultGateways(route) {
		f.addAny(attach.GatewayKind)
	}
	for _, a := range f.res.Graph.Attachments(route) {
		switch {
		case gatewayapi.IsListenerSet(a.Parent.GroupKind()) && !a.Missing:
			f.addListenerSets()
		case a.State != topology.Unknown:
		case a.Missing:
			f.addIn(a.Parent.GroupKind(), a.Parent.Namespace)
		case gatewayapi.IsMeshParent(a.Parent.GroupKind()): // a route of another kind could have it
			for _, gk := range gatewayapi.RouteKinds() {
				f.addIn(gk, f.res.Node(route).Ref.Namespace)
			}
		case f.cluster.IsUnread(attach.NamespaceKind, f.res.Node(route).Ref.Namespace):
			f.found[Gap{Kind: attach.NamespaceKind}] = true
		}
	}
}

// addAbove adds the gaps in the namespaces of a node and of all above it, from which traffic comes.
func (f *gapFinder) addAbove(id topology.NodeID) {
	if f.seen[id] {
		return
	}
	f.seen[id] = true
	n := f.res.Node(id)
	namespace := n.Ref.Namespace
	if namespace != "" {
		f.addIn(f.kind.GroupKind, namespace)
	}
	if n.Object == nil {
		f.addIn(n.Ref.GroupKind(), namespace)
	}
	if n.Role == topology.ListenerSet {
		f.addListenerSets()
	}
	if f.kind.Namespaces == policy.WithGrant && slices.ContainsFunc(f.kind.Table[id].Policies,
		func(a policy.Attached) bool { return a.Policy.Ref().Namespace != namespace }) {
		f.addIn(attach.GrantKind, namespace)
	}
	if int(id) >= f.res.Graph.Len() {
		return
	}
	f.addAttachments(id)
	for _, p := range f.res.Graph.Parents(f.kind.Family, id) {
		if n.Role == topology.Backend || n.Role == topology.Port {
			if f.res.Node(p).Ref.Namespace != namespace { // by a grant that may be there
				f.addIn(attach.GrantKind, namespace)
			}
		}
		f.addAbove(p)
	}
}

// mayTarget reports whether policies of the kind may be attached to whole objects of a kind.
func (f *gapFinder) mayTarget(gk model.GroupKind) bool {
	return f.kind.Targets == nil ||
		slices.ContainsFunc(f.kind.Targets, func(t policy.TargetForm) bool { return t.GroupKind == gk })
}

// DescribeGaps names the lists that are gaps, as an administrator would:
// httproutes.gateway.networking.k8s.io in shop.
func (r *Resolution) DescribeGaps(gaps []Gap) []string {
	var out []string
	for _, g := range gaps {
		served := r.Snapshot.Cluster.FindKind(g.Kind)
		if served == nil {
			served = &model.ServedKind{GroupKind: g.Kind, Plural: descriptor.PluralOf(g.Kind.Kind)}
		}
		name := served.Resource()
		if g.Namespace != "" {
			name += " in " + g.Namespace
		}
		out = append(out, name)
	}
	return out
}
