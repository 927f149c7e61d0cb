package ocm

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// family holds the ways by which policies come to clusters: binding > cluster. A binding's way through a set is a section of it.
const family = "ocm.placement"

// clusters links bindings and clusters. Clusters that are only named in decisions are there as well.
func clusters(l *topology.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	if len(in.Of(policyKind)) == 0 {
		return nil
	}
	w := readWorld(in)
	l.Family(family, topology.Binding, topology.Cluster)
	nodes := map[string]topology.NodeID{}
	for _, o := range in.Of(clusterKind) {
		nodes[o.Ref.Name] = l.Add(topology.Cluster, o)
	}
	for _, b := range w.bindings {
		for _, name := range b.placement.clusters {
			if _, known := nodes[name]; !known {
				nodes[name] = l.AddNamed(topology.Cluster, clusterRef(name))
			}
		}
	}
	ways := w.ways()
	for _, b := range w.bindings {
		if len(ways[b]) == 0 {
			continue
		}
		id := l.Add(topology.Binding, b.object)
		var sets []string
		for _, way := range ways[b] {
			if way.set != nil {
				sets = append(sets, sectionOf(way.set))
			}
		}
		parts := l.Sections(id, topology.Binding, sets)
		for _, way := range ways[b] {
			from := id
			if way.set != nil {
				from = parts[slices.Index(sets, sectionOf(way.set))]
			}
			for _, name := range way.clusters {
				l.Connect(family, from, nodes[name])
			}
		}
	}
	return nil
}

// way is what comes through a path, whatever the policy.
type way struct {
	set      *set
	clusters []string // sorted
}

// ways are the paths of each binding by which a policy came somewhere, directly first, then by set.
func (w *world) ways() map[*binding][]way {
	found := map[path]map[string]bool{}
	for _, r := range w.policies {
		for name, l := range r.clusters {
			for _, p := range l.via {
				if found[p] == nil {
					found[p] = map[string]bool{}
				}
				found[p][name] = true
			}
		}
	}
	paths := make([]path, 0, len(found))
	for p := range found {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, bySet)
	out := map[*binding][]way{}
	for _, p := range paths {
		names := make([]string, 0, len(found[p]))
		for name := range found[p] {
			names = append(names, name)
		}
		slices.Sort(names)
		out[p.by] = append(out[p.by], way{p.set, names})
	}
	return out
}

func clusterRef(name string) model.Ref {
	return model.Ref{Group: clusterGroup, Kind: clusterKind.Kind, Name: name}
}

// sectionOf is the section of a binding for its way through a set.
func sectionOf(s *set) string { return "set " + s.object.Ref.Name }

// node is where a path stands in the graph.
func (p path) node(g *topology.Graph) []topology.NodeID {
	if p.set == nil {
		return g.Lookup(p.by.object.Ref)
	}
	return g.Lookup(p.by.object.Ref.In(sectionOf(p.set)))
}
