package ocm

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// placementFamily holds the ways by which policies come to clusters: binding > cluster. A binding's
// way through a set is a section of it.
const placementFamily = "ocm.placement"

// extendGraph links bindings and clusters. Clusters that are only named in decisions are there as
// well.
func extendGraph(l *build.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	if len(in.OfKind(policyKind)) == 0 {
		return nil
	}
	w := buildPlacementIndex(in)
	l.DeclareFamily(placementFamily, topology.Binding, topology.Cluster)
	nodes := map[string]topology.NodeID{}
	for _, o := range in.OfKind(clusterKind) {
		nodes[o.Ref.Name] = l.AddObject(topology.Cluster, o)
	}
	for _, b := range w.bindings {
		for _, name := range b.placement.clusters {
			if _, known := nodes[name]; !known {
				nodes[name] = l.AddRef(topology.Cluster, clusterRef(name))
			}
		}
	}
	ways := w.listBindingPaths()
	for _, b := range w.bindings {
		if len(ways[b]) == 0 {
			continue
		}
		id := l.AddObject(topology.Binding, b.object)
		var sets []string
		for _, way := range ways[b] {
			if way.set != nil {
				sets = append(sets, setSection(way.set))
			}
		}
		parts := l.AddSections(id, topology.Binding, sets)
		for _, way := range ways[b] {
			from := id
			if way.set != nil {
				from = parts[slices.Index(sets, setSection(way.set))]
			}
			for _, name := range way.clusters {
				l.Connect(placementFamily, from, nodes[name])
			}
		}
	}
	return nil
}

// bindingPath is what comes through a path, whatever the policy.
type bindingPath struct {
	set      *policySet
	clusters []string // sorted
}

// listBindingPaths are the paths of each binding by which a policy came somewhere, directly first,
// then by set.
func (w *placementIndex) listBindingPaths() map[*binding][]bindingPath {
	found := map[policyPath]map[string]bool{}
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
	paths := make([]policyPath, 0, len(found))
	for p := range found {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, compareBySet)
	out := map[*binding][]bindingPath{}
	for _, p := range paths {
		names := make([]string, 0, len(found[p]))
		for name := range found[p] {
			names = append(names, name)
		}
		slices.Sort(names)
		out[p.binding] = append(out[p.binding], bindingPath{p.set, names})
	}
	return out
}

func clusterRef(name string) model.Ref {
	return model.Ref{Group: clusterGroup, Kind: clusterKind.Kind, Name: name}
}

// setSection is the section of a binding for its path through a set.
func setSection(s *policySet) string { return "set " + s.object.Ref.Name }

// findNodes is where a path stands in the graph.
func (p policyPath) findNodes(g *topology.Graph) []topology.NodeID {
	if p.set == nil {
		return g.Lookup(p.binding.object.Ref)
	}
	return g.Lookup(p.binding.object.Ref.WithSection(setSection(p.set)))
}
