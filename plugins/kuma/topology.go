package kuma

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// The families that the linker makes.
const (
	outboundFamily = "kuma.outbound" // mesh > service > port, mesh > route
	proxyFamily    = "kuma.proxy"    // mesh > dataplane > inbound
)

var (
	meshKind      = model.GroupKind{Group: group, Kind: "Mesh"}
	httpRouteKind = model.GroupKind{Group: group, Kind: "MeshHTTPRoute"}
)

// extendGraph links meshes, proxies, destinations and routes.
func extendGraph(b *build.Extender, in *model.Snapshot, s model.Settings) []model.Problem {
	asked := s
	s = withDialect(in, s)
	w := buildMeshIndex(in, s)
	if w.isEmpty() {
		return nil
	}
	b.DeclareFamily(outboundFamily, topology.MeshRoot, serviceRole, portRole, routeRole)
	b.DeclareFamily(proxyFamily, topology.MeshRoot, topology.Proxy, inboundRole)
	l := graphLinker{Extender: b, world: w, meshes: map[string]topology.NodeID{}}
	for _, o := range in.OfKind(meshKind) {
		l.meshes[o.Ref.Name] = b.AddObject(topology.MeshRoot, o)
	}
	for _, d := range w.dataplanes {
		l.addDataplane(d)
	}
	l.ports = map[*destination][]topology.NodeID{}
	for _, d := range w.destinations {
		l.addDestination(d)
	}
	for _, o := range in.OfKind(httpRouteKind) {
		l.addRoute(o, in, s)
	}
	return append(l.problems, inputProblems(in, asked, s)...)
}

type graphLinker struct {
	*build.Extender
	world    *meshIndex
	meshes   map[string]topology.NodeID
	proxies  []topology.NodeID // by dataplane
	ports    map[*destination][]topology.NodeID
	problems []model.Problem
}

// addMesh is the node of a mesh; one that is not in the input is assumed to exist.
func (l *graphLinker) addMesh(name string, by *model.Object) topology.NodeID {
	id, ok := l.meshes[name]
	if !ok {
		id = l.AddRef(topology.MeshRoot, model.Ref{Group: group, Kind: "Mesh", Name: name})
		l.meshes[name] = id
		l.problems = append(l.problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Message: fmt.Sprintf("Mesh %s is not in the input; it is assumed to exist",
				name), Hint: "add its manifest"}.At(by))
	}
	return id
}

func (l *graphLinker) addDataplane(d *dataplane) {
	id := l.AddObject(topology.Proxy, d.object)
	l.proxies = append(l.proxies, id)
	l.Connect(proxyFamily, l.addMesh(d.mesh, d.object), id)
	names := make([]string, len(d.sections))
	for i, s := range d.sections {
		names[i] = s.name
	}
	for _, part := range l.AddSections(id, inboundRole, names) {
		l.Connect(proxyFamily, id, part)
	}
	if d.gateway == "BUILTIN" {
		l.problems = append(l.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "it is a builtin gateway, which is not evaluated"}.At(d.object))
	}
}

func (l *graphLinker) addDestination(d *destination) {
	id := l.AddObject(serviceRole, d.object)
	l.Connect(outboundFamily, l.addMesh(d.mesh, d.object), id)
	names := make([]string, len(d.ports))
	for i, p := range d.ports {
		names[i] = p.portName()
	}
	l.ports[d] = l.AddSections(id, portRole, names)
	for _, port := range l.ports[d] {
		l.Connect(outboundFamily, id, port)
	}
	if len(d.ports) == 0 {
		l.ports[d] = []topology.NodeID{id}
	}
}

// addRoute links a route below its mesh, and says on which outbounds of which proxies it is used.
func (l *graphLinker) addRoute(o *model.Object, in *model.Snapshot, s model.Settings) {
	id := l.AddObject(routeRole, o)
	labels := computeLabels(o, in, s)
	p := newSelector(o, labels, s)
	p.gateways = l.world.gateways
	l.Connect(outboundFamily, l.addMesh(p.mesh, o), id)
	var by []topology.NodeID
	for i, d := range l.world.dataplanes {
		if p.selectProxy(d).why == "" {
			by = append(by, l.proxies[i])
		}
	}
	slices.Sort(by)
	if len(by) == 0 {
		return
	}
	used := map[topology.NodeID]bool{}
	for _, item := range o.Body.At("spec", "to").Items {
		for _, t := range l.world.findDestinations(item.Field("targetRef"), labels) {
			for i, port := range l.ports[t.destination] {
				if (t.port < 0 || i == t.port) && !used[port] {
					used[port] = true
					l.AddUse(id, topology.NodeUse{At: port, By: by})
				}
			}
		}
	}
}

// newProxyFinder finds the nodes that the top-level reference of a policy picks.
func newProxyFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	find := newSelectionFinder(g, in, s)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		nodes, problems := find(p)
		if p.Object.Text("spec", "targetRef", "kind") == "MeshHTTPRoute" { // it holds for some requests only
			return nil, problems
		}
		return nodes, problems
	}
}

// newSelectionFinder finds all that a policy selects, also where it holds for some requests only.
func newSelectionFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	s = withDialect(in, s)
	w := buildMeshIndex(in, s)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		sel := newSelector(p.Object, p.Labels, s)
		if p.Object.Ref.GroupKind() == httpRouteKind { // for what else gateways do the answer has no place
			sel.gateways = w.gateways
		}
		if sel.kind == "MeshHTTPRoute" {
			for _, o := range w.findRoutes(sel.ref, p.Labels) {
				sel.routes = append(sel.routes, newSelector(o, computeLabels(o, in, s), s))
			}
		}
		var out []topology.NodeID
		var why []string
		var unknown []model.Problem
		for _, d := range w.proxiesNear(sel) {
			found := sel.selectProxy(d)
			if found.unknown {
				unknown = append(unknown, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
					Message: fmt.Sprintf("whether it selects Dataplane %s is not evaluated: %s",
						d.object.Ref.FullName(), found.why)}.At(p.Object))
				continue
			}
			if found.why != "" {
				if !slices.Contains(why, found.why) {
					why = append(why, found.why)
				}
				continue
			}
			ids := g.Lookup(d.object.Ref)
			if len(ids) == 0 {
				continue // the graph was made without the vendor's extension
			}
			out = append(out, ids...)
			parts := g.Parts(ids[0])
			for _, i := range found.sections {
				out = append(out, parts[i])
			}
		}
		if len(unknown) > 0 {
			return out, unknown
		}
		return out, unselectedProblems(p, sel, len(out), why)
	}
}

// newTagProxyFinder finds the same where 2.14 goes by tags: not in a mesh whose outbounds are all
// resources.
func newTagProxyFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	if s = withDialect(in, s); !isDialect214(s) {
		return func(*policy.Policy) ([]topology.NodeID, []model.Problem) { return nil, nil }
	}
	find := newProxyFinder(g, in, s)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		mesh := in.Get(model.Ref{Group: group, Kind: "Mesh", Name: p.Label(meshLabel)})
		if mesh != nil && mesh.Text("spec", "meshServices", "mode") == "Exclusive" {
			return nil, nil
		}
		nodes, _ := find(p)
		return nodes, nil
	}
}

// unselectedProblems says why a policy selects no proxy, and what of it is not evaluated.
func unselectedProblems(p *policy.Policy, sel *proxySelector, n int, why []string) []model.Problem {
	switch sel.kind {
	case "MeshHTTPRoute":
		if len(sel.routes) == 0 {
			return []model.Problem{model.Problem{Severity: model.Warning, Code: model.TargetNotFound,
				Message: "the MeshHTTPRoute of its top-level targetRef is not found: the policy does not apply"}.At(
				p.Object)}
		}
		fallthrough
	case "MeshGateway":
		if sel.gateways != nil {
			break
		}
		return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "what a top-level targetRef of kind " + sel.kind + " does is not evaluated"}.At(p.Object)}
	}
	if n > 0 || sel.isShadow {
		return nil
	}
	message := "it selects no Dataplane of the input"
	if len(why) > 0 {
		slices.Sort(why)
		message += ": " + why[0]
		if len(why) > 1 {
			message += fmt.Sprintf(" (and %d more reasons for others)", len(why)-1)
		}
	}
	return []model.Problem{model.Problem{Severity: model.Info, Code: model.NotReached, Message: message}.At(p.Object)}
}

// newDestinationFinder finds the nodes that an item of a policy names.
func newDestinationFinder(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
	s = withDialect(in, s)
	w := buildMeshIndex(in, s)
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		ref := p.Entry.Field("targetRef")
		if kind := ref.Field("kind").Text(); kind == "Mesh" || kind == "" {
			return g.Lookup(model.Ref{Group: group, Kind: "Mesh", Name: p.Label(meshLabel)}), nil
		}
		var out []topology.NodeID
		for _, t := range w.findDestinations(ref, p.Labels) {
			ids := g.Lookup(t.destination.object.Ref)
			if t.port >= 0 && len(ids) > 0 {
				ids = g.Parts(ids[0])[t.port : t.port+1]
			}
			out = append(out, ids...)
		}
		if ref.Field("kind").Text() == "MeshHTTPRoute" {
			for _, o := range w.findRoutes(ref, p.Labels) {
				out = append(out, g.Lookup(o.Ref)...)
			}
		}
		slices.Sort(out)
		out = slices.Compact(out)
		if w.dialect214 && ref.Field("kind").Text() == "MeshService" && ref.Field("name").Text() != "" {
			return out, nil // it may mean a tag
		}
		return out, w.unfoundProblems(p, ref, len(out))
	}
}
