package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// lost tells, for an effective policy of one side that the other side does not have on a way, whether that is because the target is not there
// (Removed) or gets no traffic on the way (Unreached). If it is neither ("") and there is traffic, the target is unprotected.
func (d *differ) lost(key subject, item *EffectivePolicy, path Path, side, other *side) (targetChange string, unprotected bool) {
	ids := other.res.Lookup(key.target)
	had, has := side.res.Snapshot.Get(key.target) != nil, other.res.Snapshot.Get(key.target) != nil
	switch {
	case had && !has, len(ids) == 0 && key.target.Section != "":
		return changeRemoved, false
	case len(item.Paths) == 0: // no traffic is known that comes to it
		return "", false
	case len(ids) == 0 && !had: // it is in neither input: a name that the policy, or what is gone with it, brought in
		return targetUnreached, false
	}
	if item.bound() { // nothing but policies comes there
		return "", true
	}
	if !other.reaches(d.kindOf(key.kind, path), ids, path) {
		return targetUnreached, false
	}
	return "", true
}

// kindOf is a kind in force on a way, of the side that has it.
func (d *differ) kindOf(name string, path Path) *resolve.Kind {
	for _, s := range []*side{d.before, d.after} {
		for _, k := range s.ways.picked {
			if k.Name() == name && (k.Scope == nil || k.Scope.Name == path.Direction) {
				return k
			}
		}
	}
	return nil
}

// kind is the same kind, and scope of it, on this side; nil if it has none.
func (s *side) kind(like *resolve.Kind) *resolve.Kind {
	for _, k := range s.res.Kinds {
		if k.GroupKind == like.GroupKind && (k.Scope == nil) == (like.Scope == nil) && (k.Scope == nil || k.Scope.Name == like.Scope.Name) {
			return k
		}
	}
	return nil
}

// reaches reports whether traffic comes to one of the nodes on a way.
func (s *side) reaches(like *resolve.Kind, ids []topology.NodeID, path Path) bool {
	if like.Scope != nil {
		return s.hasEnds(path)
	}
	paths := s.pathsTo(like, ids)
	if !slices.ContainsFunc(paths, func(p Path) bool { return p.Route != "" }) {
		path.Route = "" // without the policies of one side the route does not matter there
	}
	return hasPath(paths, path)
}

// pathsTo are the ways by which traffic that is a kind's business comes to nodes, whatever is in force there.
func (s *side) pathsTo(like *resolve.Kind, ids []topology.NodeID) []Path {
	k := s.kind(like)
	if k == nil {
		k = s.absent(like.Kind)
	}
	if len(ids) == 1 {
		return s.ways.pathsOf(k, ids[0], 0, k.TrafficPaths(ids[0]))
	}
	var out []Path
	for _, id := range ids {
		out = append(out, s.ways.pathsOf(k, id, 0, k.TrafficPaths(id))...)
	}
	return inOrder(out)
}

// absent is a kind that this side does not have.
func (s *side) absent(k *policy.Kind) *resolve.Kind {
	known := s.without[k.GroupKind]
	if known == nil {
		known = s.res.Without(k)
		if s.without == nil {
			s.without = map[model.GroupKind]*resolve.Kind{}
		}
		s.without[k.GroupKind] = known
	}
	return known
}

// end is a mesh, a proxy or a destination, by the name that a way has for it.
type end struct {
	role topology.Role // "": of a destination, which may have any
	name string
}

// hasEnds reports whether the proxy that calls, what it calls and the mesh of a way are there.
func (s *side) hasEnds(path Path) bool {
	if s.ends == nil {
		s.ends = map[end]bool{}
		for id := range s.res.Graph.Len() {
			n := s.res.Graph.Node(topology.NodeID(id))
			s.ends[end{n.Role, n.Ref.FullName()}] = true
			s.ends[end{name: destinationName(n)}] = true
		}
	}
	has := func(role topology.Role, name string) bool { return name == "" || s.ends[end{role, name}] }
	return has(topology.MeshRoot, path.Mesh) && has(topology.Proxy, path.Dataplane) && has("", path.Destination)
}

// unread lists what a cluster did not let us read and may be all there is to a change: on either side, also where nothing is in force.
func (d *differ) unread(key subject, p pairing) []string {
	var out []string
	for _, of := range []struct {
		side *side
		item *EffectivePolicy
	}{{d.before, p.before}, {d.after, p.after}} {
		if of.item != nil {
			out = append(out, of.item.Unread...)
			continue
		}
		out = append(out, of.side.unreadAt(key)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unreadAt is what could not be read and may change what is in force of a kind at a target.
func (s *side) unreadAt(key subject) []string {
	cluster := s.res.Snapshot.Cluster
	if cluster == nil || len(cluster.Gaps) == 0 {
		return nil
	}
	gk := key.target.GroupKind()
	ids := s.res.Lookup(key.target)
	if len(ids) == 0 && cluster.MissesRef(key.target) {
		return s.res.Unread([]resolve.Gap{{Kind: gk, Namespace: key.target.Namespace}})
	}
	var out []string
	kind := model.ParseGroupKind(key.kind)
	for _, k := range s.res.Kinds {
		if k.GroupKind != kind {
			continue
		}
		for _, id := range ids {
			out = append(out, s.res.Unread(k.Gaps().At(id))...)
		}
	}
	if len(out) == 0 && cluster.MissesAny(kind) {
		out = s.res.Unread([]resolve.Gap{{Kind: kind}})
	}
	return out
}
