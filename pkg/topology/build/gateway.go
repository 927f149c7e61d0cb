package build

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

const maxListeners = 64

// gatewaySpec is a Gateway while the graph is built.
type gatewaySpec struct {
	id             topology.NodeID
	class          string
	spec           manifest.Fields
	sets           selector.Admission // the namespaces of the ListenerSets that it takes
	isDefault      bool               // it takes routes that ask for default Gateways (gatewayapi G20)
	implementation Implementation
}

// gatewayBuilder adds the Gateways with their ListenerSets and listeners, and holds what these
// take, and whose they are.
type gatewayBuilder struct {
	*draft
	specs     []gatewaySpec // in order of their references
	gatewayOf map[topology.NodeID]int
	sets      []listenerSet // by ListenerSet node, from firstSet on
	firstSet  topology.NodeID
	listenerTable
	clientCertificates map[topology.NodeID]reference.Unresolved // by Gateway with a client certificate
	// whose Gateways are of which the input does not tell the controller
	unknownImplementation Implementation
	certificates          certificateJudge
	admissions            map[admissionQuery]selector.Truth // namespaces that a selector was asked about
	names                 model.Set[string]                 // of the listeners of the object at hand
}

func newGatewayBuilder(d *draft) *gatewayBuilder {
	gs := &gatewayBuilder{
		draft:                 d,
		gatewayOf:             map[topology.NodeID]int{},
		clientCertificates:    map[topology.NodeID]reference.Unresolved{},
		unknownImplementation: d.guessImplementation(),
		certificates: certificateJudge{draft: d, certificates: reference.Certificates{In: d.in,
			ChecksContent: d.settings.Bool(gatewayapi.CheckCertificates)}},
		admissions: map[admissionQuery]selector.Truth{},
	}
	gs.certificates.readingOf = gs.readingOfOwner
	return gs
}

// addTo adds what is known of Gateways to the parts of the graph.
func (gs *gatewayBuilder) addTo(p *topology.Parts) {
	p.ClientCertificates, p.Certificates = gs.clientCertificates, gs.certificates.certificates
	p.Listeners = make(map[topology.NodeID]*topology.ListenerFacts, len(gs.listenerTable.all))
	for i := range gs.listenerTable.all {
		p.Listeners[gs.listenerTable.first+topology.NodeID(i)] = gs.listenerTable.all[i].describe()
	}
	p.Implementations = map[topology.NodeID]string{}
	for i := range gs.specs {
		impl := &gs.specs[i].implementation
		if impl.Name == "" {
			continue
		}
		p.Implementations[gs.specs[i].id] = impl.Name
		if impl.JudgesBackends != nil && p.BackendJudges[impl.Name] == nil {
			if p.BackendJudges == nil {
				p.BackendJudges = map[string]topology.BackendJudge{}
			}
			p.BackendJudges[impl.Name] = impl.JudgesBackends(gs.in)
		}
		if impl.ReadsFilters != nil && p.FilterReaders[impl.Name] == nil {
			if p.FilterReaders == nil {
				p.FilterReaders = map[string]topology.FilterReader{}
			}
			p.FilterReaders[impl.Name] = impl.ReadsFilters(gs.in)
		}
	}
	p.Sets, p.SetsOf = make(map[topology.NodeID]topology.SetFacts,
		len(gs.sets)), map[topology.NodeID][]topology.NodeID{}
	for i := range gs.sets {
		s := &gs.sets[i]
		p.Sets[s.id] = s.SetFacts
		if s.Gateway != topology.None {
			p.SetsOf[s.Gateway] = append(p.SetsOf[s.Gateway], s.id)
		}
	}
}

// addGateways adds classes, Gateways, ListenerSets and listeners, and the edges between them.
func (gs *gatewayBuilder) addGateways() {
	for _, o := range gs.in.OfKind(gatewayapi.GatewayClassKind) {
		gs.nodes.Add(topology.Node{Role: topology.GatewayClass, Ref: o.Ref, Object: o})
	}
	for _, o := range gs.in.OfKind(gatewayapi.GatewayKind) {
		gs.addGateway(o)
	}
	gs.addSets()
	gs.listenerTable.first = topology.NodeID(gs.nodes.Len())
	for i := range gs.specs {
		gs.addListeners(gs.specs[i].id, &gs.specs[i].spec)
	}
	for i := range gs.sets {
		gs.addListeners(gs.sets[i].id, &gs.sets[i].spec)
	}
	gs.applyMissingCertificates()
	gs.judgeConflicts()
	for i := range gs.specs {
		gs.applyGatewayTLS(gs.specs[i].id, &gs.specs[i].spec)
	}
	gs.connectSets()
}

func (gs *gatewayBuilder) addGateway(o *model.Object) {
	g := gatewaySpec{id: gs.nodes.Add(topology.Node{Role: topology.Gateway, Ref: o.Ref, Object: o}),
		spec: gs.ReadSpec(o)}
	gs.addToNamespace(o.Ref.Namespace, g.id)
	if g.class = g.spec.ReadText("gatewayClassName"); g.class != "" {
		gs.addEdge(gs.classNode(g.class), g.id)
	}
	allowed := g.spec.ReadObject("allowedListeners")
	namespaces := allowed.ReadObject("namespaces")
	g.sets = namespaces.ReadAdmission("None", "the Gateway takes no listener set")
	if allowed.Bad || namespaces.Bad {
		g.sets = selector.Admission{}
	}
	g.isDefault = readScope(&g.spec, "defaultScope")
	g.implementation = gs.implementationOfClass(g.class)
	gs.gatewayOf[g.id] = len(gs.specs)
	gs.specs = append(gs.specs, g)
}

// addListeners adds the listeners of a Gateway or a ListenerSet. One without a readable name has no
// node.
func (gs *gatewayBuilder) addListeners(owner topology.NodeID, spec *manifest.Fields) {
	list, at := spec.ReadList("listeners"), spec.At.AtField("listeners")
	gs.CheckLimit(list.Len(), maxListeners, at)
	gs.names.Clear()
	for i, v := range list.Items {
		f := gs.ReadEntry(v, at.AtEntry(i))
		name := f.ReadText("name")
		if f.Bad {
			continue
		}
		if name == "" {
			gs.ReportSkipped(f.At, "has no name")
			continue
		}
		if gs.names.Has(name) {
			gs.ReportInvalid(f.At, "more than one listener is called "+manifest.QuoteName(name))
		}
		gs.names.Add(name)
		ref := at.Object.Ref.WithSection(name)
		gs.addEdge(owner, gs.nodes.AddPart(owner, topology.Node{Role: topology.Listener, Ref: ref,
			Object: at.Object, Index: i}))
		gs.listenerTable.all = append(gs.listenerTable.all, gs.readListener(&f, ref, owner))
	}
}

func (gs *gatewayBuilder) readListener(f *manifest.Fields, ref model.Ref, owner topology.NodeID) listener {
	l := listener{owner: owner, ref: ref, acceptedReason: "listener " + ref.Section + " accepts the route"}
	l.hostname = f.ReadText("hostname")
	l.ownHostnames = []gatewayapi.Hostname{{Effective: l.hostname}}
	l.port = f.ReadPort("port")
	protocol := f.ReadText("protocol")
	l.protocol = protocol
	allowed := f.ReadObject("allowedRoutes")
	whose := gs.implementationAt(owner)
	gs.readKinds(&l, &allowed, whose.routeKindsFor(protocol, f.Body.Field("tls").Text("mode")))
	l.invalidForKinds = l.invalidKinds && whose.RefusesWrongKinds
	if named := allowed.Body.Field("kinds"); named.Len() == 0 &&
		gs.mayTakeTCP(owner, protocol, f.Body.Field("tls").Text("mode")) {
		l.uncertainKinds = []model.GroupKind{gatewayapi.TCPRouteKind}
	}
	namespaces := allowed.ReadObject("namespaces")
	l.Admission = namespaces.ReadAdmission("Same", "the listener takes no route")
	l.unreadable = f.Bad || allowed.Bad || namespaces.Bad
	gs.certificates.readTLS(&l, f)
	return l
}

// readKinds intersects the kinds of allowedRoutes with those that the protocol takes (gatewayapi
// G13).
func (gs *gatewayBuilder) readKinds(l *listener, allowed *manifest.Fields, standard []model.GroupKind) {
	foreign := standard == nil && strings.Contains(l.protocol, "/")
	if foreign {
		gs.addNamedNote(noteTopic{kind: protocolNotEvaluated, about: model.Ref{Name: l.protocol}}, l.ref.String(),
			allowed.At.Object)
	}
	list := allowed.ReadList("kinds")
	if list.Len() == 0 {
		l.kinds = standard
		return
	}
	for i, v := range list.Items {
		f := gs.ReadEntry(v, allowed.At.AtField("kinds").AtEntry(i))
		gk := model.GroupKind{Group: f.ReadTextOr("group", gatewayapi.GatewayGroup), Kind: f.ReadText("kind")}
		if !f.Bad && (foreign || slices.Contains(standard, gk)) {
			l.kinds = append(l.kinds, gk)
		} else {
			l.invalidKinds = true
		}
	}
}
