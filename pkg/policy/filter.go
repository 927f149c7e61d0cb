package policy

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// Void says why nothing of a kind is in force at a node and below it, whatever policies there are: the implementation serves something else
// there. Nil: it does not.
type Void func(g *topology.Graph, id topology.NodeID) *model.Problem

// filters reads where filters of routes name policies.
func (r *kindReader) filters(n *yaml.Node, on []string, f RefForm) []topology.Role {
	if f.At != nil || f.Unless != nil {
		r.fail(n, "a filter is a field of a route: \"at\" and \"unless\" have no meaning")
	}
	if on == nil {
		return []topology.Role{topology.Rule}
	}
	var out []topology.Role
	for _, s := range on {
		if s != string(topology.Rule) && s != string(topology.Backend) {
			r.fail(n, "%q is not one of rule, backend", s)
		}
		out = append(out, topology.Role(s))
	}
	return out
}

// voids reads the functions that say where nothing of the kind is in force.
func (r *kindReader) voids(n *yaml.Node) {
	r.kind.Voids = functions(r, n, r.funcs.Voids, "to say where nothing is in force")
}

// Discovers says which namespaces an implementation sees; nil: all of them. Objects elsewhere do not exist for it.
type Discovers func(in *model.Snapshot, s model.Settings) (sees func(namespace string) bool, problems []model.Problem)

// discovers reads the function that says which namespaces the implementation sees.
func (r *kindReader) discovers(n *yaml.Node) {
	var name string
	r.object(n, map[string]field{"func": r.text(&name)})
	if r.kind.Discovers = r.funcs.Discovers[name]; r.kind.Discovers == nil {
		r.fail(n, "there is no function %q to tell which namespaces are seen", name)
	}
}
