package istio

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Levels of policies, beside roles of the graph.
const (
	meshLevel    topology.Role = topology.MeshRoot
	serviceLevel topology.Role = topology.Frontend
)

// foldTarget is a target with what a fold has to know of it.
type foldTarget struct {
	target
	world     *proxyIndex
	namespace string // of a Namespace that is asked about itself; then there is no proxy
	graph     *topology.Graph
	settings  model.Settings
}

// situationFunc is what one kind makes of a target: everything of its situation but where policies
// stand; nil: nothing is in force there.
type situationFunc func(at foldTarget) *policy.Situation

// newSituator makes the situations of a kind.
func newSituator(describe situationFunc) policy.SituationMaker {
	return func(g *topology.Graph, in *model.Snapshot, s model.Settings) func(topology.NodeID) *policy.Situation {
		if !isPresent(in, s) {
			return nil
		}
		w := buildProxyIndex(in, s)
		byNode := map[topology.NodeID]foldTarget{}
		for _, t := range w.targets {
			for _, id := range g.Lookup(t.representativeObject().Ref) {
				byNode[id] = foldTarget{target: t, world: w, graph: g, settings: s}
			}
		}
		return func(id topology.NodeID) *policy.Situation {
			at, ok := byNode[id]
			if n := g.Node(id); !ok && n.Role == topology.Namespace {
				at, ok = foldTarget{world: w, namespace: n.Ref.Name, graph: g, settings: s}, true
			}
			if !ok {
				return nil
			}
			out := describe(at)
			if out != nil && out.Place == nil {
				out.Place = at.findPlace
			}
			return out
		}
	}
}

// policyNamespaces are the namespaces whose policies a target takes: that of the proxy, and of what
// it serves.
func (at foldTarget) policyNamespaces() (proxy, service string) {
	if at.proxy == nil {
		return at.namespace, ""
	}
	if at.service != nil {
		service = at.service.Ref.Namespace
	}
	return at.target.namespace(), service
}

// compareByNamespace compares policies by their namespaces, in a given order.
func compareByNamespace(namespaces ...string) func(a, b *policy.Policy) int {
	return func(a, b *policy.Policy) int {
		return cmp.Compare(slices.Index(namespaces, a.Ref().Namespace), slices.Index(namespaces, b.Ref().Namespace))
	}
}

// joinKey tells targets apart for which the order of namespaces differs.
func joinKey(namespaces ...string) string { return strings.Join(namespaces, "\x00") }

// findPlace is where a policy is said to hold, and at which level.
func (at foldTarget) findPlace(p *policy.Policy) (topology.NodeID, topology.Role) {
	if p.Builtin != "" {
		return at.findBuiltinPlace(p)
	}
	s := readPolicyTargets(p.Object)
	find := func(ref model.Ref) topology.NodeID {
		if ids := at.graph.Lookup(ref); len(ids) > 0 {
			return ids[0]
		}
		return at.graph.Lookup(model.Ref{Kind: "Namespace", Name: at.world.root})[0]
	}
	home := find(model.Ref{Kind: "Namespace", Name: p.Ref().Namespace})
	for _, r := range s.refs {
		if at.proxy == nil || !at.world.isReferenced(p.Ref().Namespace, r, at.target) {
			continue
		}
		switch r.groupKind() {
		case gatewayClassKind:
			return find(model.Ref{Group: gatewayGroup, Kind: "GatewayClass", Name: r.name}), topology.GatewayClass
		case gatewayKind:
			return find(at.object.Ref), topology.Gateway
		}
		return find(at.service.Ref), serviceLevel
	}
	switch {
	case s.selector.Len() > 0:
		return home, topology.Workload
	case p.Ref().Namespace == at.world.root:
		return home, meshLevel
	}
	return home, topology.Namespace
}

// findBuiltinPlace is where something that no policy wrote stands: at the object that says it, else
// in the root namespace.
func (at foldTarget) findBuiltinPlace(p *policy.Policy) (topology.NodeID, topology.Role) {
	root := at.graph.Lookup(model.Ref{Kind: "Namespace", Name: at.world.root})[0]
	if ids := at.graph.Lookup(p.Ref()); p.Ref().Name != "" && len(ids) > 0 {
		return ids[0], topology.Workload
	}
	return root, meshLevel
}

// foldRecorder collects the results of a fold.
type foldRecorder struct{ merge.Output }
