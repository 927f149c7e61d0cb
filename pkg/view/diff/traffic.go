package diff

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// classifyLoss says why the other side does not have an effective policy on a path: the target is
// not there (Removed), or it gets no traffic on the path (Unreached). If neither is so ("") and
// there is traffic, the target is unprotected.
func (d *policyComparer) classifyLoss(key kindAtTarget, item *view.EffectivePolicy, path view.Path, side,
	other *comparedSide) (targetChange string, unprotected bool) {
	ids := other.res.Lookup(key.target)
	had, has := side.res.Snapshot.Get(key.target) != nil, other.res.Snapshot.Get(key.target) != nil
	switch {
	case had && !has, len(ids) == 0 && key.target.Section != "":
		return changeRemoved, false
	case len(item.Paths) == 0: // no traffic is known that comes to it
		return "", false
	case len(ids) == 0 && !had: // it is in neither input: only the policy, or an object that is gone too, named it
		return targetUnreached, false
	}
	if hasBinding(item) { // nothing but policies comes there
		return "", true
	}
	if !other.hasTrafficOn(d.findKind(key.kind, path), ids, path) {
		return targetUnreached, false
	}
	return "", true
}

// findKind returns a kind in force on a path, of the side that has it.
func (d *policyComparer) findKind(name string, path view.Path) *resolve.Kind {
	for _, s := range []*comparedSide{d.before, d.after} {
		for _, k := range s.collector.AskedKinds {
			if k.Name() == name && (k.Scope == nil || k.Scope.Name == path.Direction) {
				return k
			}
		}
	}
	return nil
}

// matchingKind returns the same kind, and scope of it, on this side; nil if this side has none.
func (s *comparedSide) matchingKind(like *resolve.Kind) *resolve.Kind {
	for _, k := range s.res.Kinds {
		if k.GroupKind == like.GroupKind && (k.Scope == nil) == (like.Scope == nil) && (k.Scope == nil ||
			k.Scope.Name == like.Scope.Name) {
			return k
		}
	}
	return nil
}

// hasTrafficOn reports whether traffic comes to one of the nodes on a path.
func (s *comparedSide) hasTrafficOn(like *resolve.Kind, ids []topology.NodeID, path view.Path) bool {
	if like.Scope != nil {
		return s.hasMeshEnds(path)
	}
	paths := s.pathsTo(like, ids)
	if !slices.ContainsFunc(paths, func(p view.Path) bool { return p.Route != "" }) {
		path.Route = "" // without the policies of one side the route does not matter there
	}
	return hasPath(paths, path)
}

// pathsTo returns the paths by which traffic that a kind applies to comes to nodes, whatever is in
// force there.
func (s *comparedSide) pathsTo(like *resolve.Kind, ids []topology.NodeID) []view.Path {
	k := s.matchingKind(like)
	if k == nil {
		k = s.kindWithoutPolicies(like.Kind)
	}
	if len(ids) == 1 {
		return s.collector.ConvertTargetPaths(k, ids[0], 0, k.TrafficPaths(ids[0]))
	}
	var out []view.Path
	for _, id := range ids {
		out = append(out, s.collector.ConvertTargetPaths(k, id, 0, k.TrafficPaths(id))...)
	}
	return view.SortPaths(out)
}

// kindWithoutPolicies returns a kind that this side does not have, without policies.
func (s *comparedSide) kindWithoutPolicies(k *policy.Kind) *resolve.Kind {
	known := s.missingKinds[k.GroupKind]
	if known == nil {
		known = s.res.KindWithoutPolicies(k)
		if s.missingKinds == nil {
			s.missingKinds = map[model.GroupKind]*resolve.Kind{}
		}
		s.missingKinds[k.GroupKind] = known
	}
	return known
}

// meshEnd is a mesh, a proxy or a destination, by the name that a path has for it.
type meshEnd struct {
	role topology.Role // "": of a destination, which may have any
	name string
}

// hasMeshEnds reports whether the mesh, the calling proxy and the destination of a path are there.
func (s *comparedSide) hasMeshEnds(path view.Path) bool {
	if s.meshEnds == nil {
		s.meshEnds = map[meshEnd]bool{}
		for id := range s.res.Graph.Len() {
			n := s.res.Graph.Node(topology.NodeID(id))
			s.meshEnds[meshEnd{n.Role, n.Ref.FullName()}] = true
			s.meshEnds[meshEnd{name: view.FormatPathObject(n.Ref)}] = true
		}
	}
	has := func(role topology.Role, name string) bool { return name == "" || s.meshEnds[meshEnd{role, name}] }
	return has(topology.MeshRoot, path.Mesh) && has(topology.Proxy, path.Dataplane) && has("", path.Destination)
}

// unreadLists returns the lists that a cluster refused and that may be the whole reason of a
// change, on either side.
func (d *policyComparer) unreadLists(key kindAtTarget, p resultChange) []string {
	var out []string
	for _, of := range []struct {
		side *comparedSide
		item *view.EffectivePolicy
	}{{d.before, p.before}, {d.after, p.after}} {
		if of.item != nil {
			out = append(out, of.item.Unread...)
			continue
		}
		out = append(out, of.side.unreadListsAt(key)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unreadListsAt returns the lists that could not be read and may change what is in force of a kind
// at a target.
func (s *comparedSide) unreadListsAt(key kindAtTarget) []string {
	cluster := s.res.Snapshot.Cluster
	if cluster == nil || len(cluster.Unread) == 0 {
		return nil
	}
	gk := key.target.GroupKind()
	ids := s.res.Lookup(key.target)
	if len(ids) == 0 && cluster.IsUnreadRef(key.target) {
		return s.res.DescribeGaps([]resolve.Gap{{Kind: gk, Namespace: key.target.Namespace}})
	}
	var out []string
	kind := model.ParseGroupKind(key.kind)
	for _, k := range s.res.Kinds {
		if k.GroupKind != kind {
			continue
		}
		for _, id := range ids {
			out = append(out, s.res.DescribeGaps(k.Gaps().At(id))...)
		}
	}
	if len(out) == 0 && cluster.HasUnread(kind) {
		out = s.res.DescribeGaps([]resolve.Gap{{Kind: kind}})
	}
	return out
}
