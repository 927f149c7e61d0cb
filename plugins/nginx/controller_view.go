package nginx

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// controllerView is what the controller makes of its Gateways, ListenerSets and routes, where that
// differs from what the Gateway API says (internal/controller/state/graph @ e55bfe339).
type controllerView struct {
	g        *topology.Graph
	withheld bool // GatewayClasses may not be read
	in       *model.Snapshot
	gateways map[topology.NodeID]*gatewayView
	sets     map[topology.NodeID]*setView
	routes   map[topology.NodeID]*routeView // those that it knows
	attached map[topology.NodeID]int        // by listener: how many routes are attached to it
	// by Service: the Gateways that use it
	findUsers func() map[model.Ref][]topology.NodeID
}

// gatewayView is a Gateway of the controller.
type gatewayView struct {
	id        topology.NodeID
	proxy     proxyConfig
	fault     string // why the controller takes it for invalid; "": it does not
	faulty    status.Condition
	listeners []*listenerView // its own; nil if it is invalid
	taken     []*listenerView // valid ones of its ListenerSets
	ports     portState
}

// setView is a ListenerSet at a Gateway of the controller.
type setView struct {
	id, gateway topology.NodeID
	valid       bool
	unknown     bool // whether the Gateway takes it is not known
	refusal     status.Condition
	listeners   []*listenerView // nil: nobody has looked at them
}

// listenerView is a listener of a Gateway or of a ListenerSet.
type listenerView struct {
	id, owner  topology.NodeID
	name       string
	facts      topology.ListenerFacts
	valid      bool // it has a place in the configuration
	attachable bool // routes can attach to it, whether or not it is valid
	conditions []status.Condition
}

// viewOf looks at the input of a graph as the controller does, once. The view is not to be changed.
func viewOf(g *topology.Graph, in *model.Snapshot) *controllerView {
	type key struct{}
	return model.Recall(&g.Memo, key{}, func() *controllerView { return newControllerView(g, in) })
}

func newControllerView(g *topology.Graph, in *model.Snapshot) *controllerView {
	v := &controllerView{g: g, in: in, withheld: in.Cluster.HasUnread(gatewayapi.GatewayClassKind),
		gateways: map[topology.NodeID]*gatewayView{}, sets: map[topology.NodeID]*setView{},
		routes: map[topology.NodeID]*routeView{}, attached: map[topology.NodeID]int{}}
	v.findUsers = sync.OnceValue(v.listUsers)
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role == topology.Gateway && n.Object != nil && isManaged(g, id, []string{controller}) {
			v.gateways[id] = v.viewGateway(id)
		}
	}
	for _, id := range g.Order(topology.Traffic) {
		if gateway := v.gateways[id]; gateway != nil {
			v.viewSets(gateway)
		}
	}
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role == topology.Route && n.Object != nil && n.Hop == 0 &&
			(n.Ref.Kind == "HTTPRoute" || n.Ref.Kind == "GRPCRoute") && n.Ref.Group == gatewayGroup {
			if r := v.viewRoute(id); r != nil {
				v.routes[id] = r
				for _, listener := range r.listReached() {
					v.attached[listener]++
				}
			}
		}
	}
	return v
}

// viewGateway judges a Gateway and its own listeners.
func (v *controllerView) viewGateway(id topology.NodeID) *gatewayView {
	n := v.g.Node(id)
	out := &gatewayView{id: id, proxy: findProxyConfig(v.g, v.in, id)}
	if out.fault = explainInvalid(n); out.fault != "" {
		out.faulty = refused("UnsupportedAddress", out.fault)
	}
	for _, class := range v.g.Parents(topology.Traffic, id) {
		c := v.g.Node(class)
		if c.Role == topology.GatewayClass && c.Object == nil && v.in.FindExistence(c.Ref).Presence == model.Missing {
			out.fault = cmp.Or(out.fault, "its class does not exist")
			if out.faulty.Type == "" {
				out.faulty = refused("Invalid", out.fault)
			}
		}
	}
	if out.fault == "" {
		out.ports = newPortState()
		out.listeners = v.viewListeners(out, id)
	}
	return out
}

// viewSets judges the ListenerSets of a Gateway, the older ones first.
func (v *controllerView) viewSets(gateway *gatewayView) {
	ids := slices.Clone(v.g.ListenerSetsOf(gateway.id))
	slices.SortFunc(ids, func(a, b topology.NodeID) int {
		x, y := v.g.Node(a).Object, v.g.Node(b).Object
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.Ref.Namespace, y.Ref.Namespace),
			cmp.Compare(x.Ref.Name, y.Ref.Name))
	})
	for _, id := range ids {
		s := &setView{id: id, gateway: gateway.id, valid: true}
		v.sets[id] = s
		switch state := v.g.ListenerSet(id); {
		case gateway.fault != "":
			s.valid, s.refusal = false, refused("ParentNotAccepted", v.g.Node(gateway.id).Ref.String()+" is not accepted")
			continue
		case state.State == topology.SetUnknown:
			s.valid, s.unknown = false, true
			continue
		case state.State == topology.SetNotAllowed:
			s.valid, s.refusal = false, refused("NotAllowed", state.Reason)
			continue
		}
		s.listeners = v.viewListeners(gateway, id)
		found := false
		for _, l := range s.listeners {
			if l.valid {
				gateway.taken = append(gateway.taken, l)
				found = true
			}
		}
		if !found {
			s.valid, s.refusal = false, refused("ListenersNotValid", "no listener of the set is valid")
		}
	}
}

// viewListeners judges the listeners of a Gateway or a ListenerSet, in their order.
func (v *controllerView) viewListeners(gateway *gatewayView, owner topology.NodeID) []*listenerView {
	out := []*listenerView{}
	inSet := v.g.Node(owner).Role == topology.ListenerSet
	for id := range v.g.Node(owner).EachPart {
		l := &listenerView{id: id, owner: owner, name: v.g.Node(id).Ref.Section, facts: v.g.Listener(id), attachable: true}
		l.judgeFields(v.g.Node(id).Object.Body.At("spec", "listeners", fmt.Sprint(v.g.Node(id).Index)))
		if l.valid = len(l.conditions) == 0; l.valid {
			gateway.ports.judge(l, inSet)
			l.judgeCertificates()
		}
		out = append(out, l)
	}
	return out
}

// The port that the controller keeps for metrics (internal/controller/config/config.go @ e55bfe339).
const metricsPort = 9113

// judgeFields refuses a listener for what its fields say.
func (l *listenerView) judgeFields(body model.Body) {
	f, tls := l.facts, body.Field("tls")
	unsupported := func(why string) {
		l.conditions = append(l.conditions, refused("UnsupportedValue", why), notProgrammed("Invalid", why))
	}
	if !slices.Contains([]string{"HTTP", "HTTPS", "TLS", "TCP", "UDP"}, f.Protocol) {
		why := fmt.Sprintf("protocol %q is not supported", f.Protocol)
		l.attachable = false
		l.conditions = append(l.conditions, refused("UnsupportedProtocol", why), notProgrammed("Invalid", why))
		return
	}
	if f.InvalidKinds {
		why := "allowedRoutes names kinds that the protocol does not take"
		l.attachable = false
		l.conditions = append(l.conditions, status.Condition{Type: "ResolvedRefs", Status: "False",
			Reason: "InvalidRouteKinds", Message: why}, notProgrammed("Invalid", why))
	}
	namespaces := body.At("allowedRoutes", "namespaces")
	if namespaces.Text("from") == "Selector" && namespaces.Field("selector").IsNull() {
		l.attachable = false
		unsupported("allowedRoutes selects namespaces without a selector")
	}
	if f.Port == metricsPort {
		unsupported("the port is the one for metrics")
	}
	mode := tls.Text("mode")
	switch f.Protocol {
	case "HTTP", "TCP", "UDP":
		if tls.IsObject() {
			unsupported("tls is not supported for " + f.Protocol)
		}
		if f.Protocol != "HTTP" && body.Has("hostname") && !body.Field("hostname").IsNull() {
			unsupported("hostname is not supported for " + f.Protocol)
		}
		return
	case "HTTPS":
		if !tls.IsObject() || mode != "" && mode != "Terminate" {
			unsupported("an HTTPS listener needs tls that terminates")
		}
	case "TLS":
		if !tls.IsObject() {
			l.attachable = false
			unsupported("a TLS listener needs tls")
		}
	}
	if tls.IsObject() && (mode == "" || mode == "Terminate") {
		l.judgeCertificateFields(tls)
	}
}

// judgeCertificateFields refuses a listener for how it names its certificates.
func (l *listenerView) judgeCertificateFields(tls model.Body) {
	refs := tls.Field("certificateRefs")
	bad := refs.Len() == 0
	for _, ref := range refs.Items {
		bad = bad || cmp.Or(ref.Text("kind"), "Secret") != "Secret" || ref.Text("group") != ""
	}
	if bad {
		why := "it needs certificateRefs, to Secrets"
		l.conditions = append(l.conditions, refused("InvalidCertificateRef", why),
			unresolved("InvalidCertificateRef", why), notProgrammed("Invalid", why))
	}
}

// judgeCertificates refuses a listener none of whose certificates is good.
func (l *listenerView) judgeCertificates() {
	if !l.valid || l.facts.Refs.Reason == "" {
		return
	}
	refs := l.facts.Refs
	if l.facts.WithoutCertificate != "" {
		l.valid = false
		l.conditions = append(l.conditions, refused(refs.Reason, refs.Message), unresolved(refs.Reason, refs.Message),
			notProgrammed("Invalid", refs.Message))
		return
	}
	l.conditions = append(l.conditions, unresolved(refs.Reason, refs.Message))
}

// portState is who has the ports of a Gateway: its own listeners are judged in their order, then
// those of its ListenerSets (gateway_listener.go, portConflictResolver and
// uniqueListenerConflictResolver).
type portState struct {
	conflicted map[int32]bool
	group      map[int32]int
	byPort     map[int32][]*listenerView
	hosts      map[string]bool
}

func newPortState() portState {
	return portState{map[int32]bool{}, map[int32]int{}, map[int32][]*listenerView{}, map[string]bool{}}
}

// protocolGroups are the protocols that can share a port.
var protocolGroups = map[string]int{"TLS": 0, "HTTPS": 0, "HTTP": 1, "TCP": 2, "UDP": 2}

// judge refuses a listener for those that come before it. One of a Gateway makes these invalid as
// well.
func (p *portState) judge(l *listenerView, inSet bool) {
	port, group := l.facts.Port, protocolGroups[l.facts.Protocol]
	owner, taken := p.group[port]
	switch {
	case p.conflicted[port]:
		l.refuse("ProtocolConflict")
		return
	case !taken:
		p.group[port] = group
	case owner != group:
		if !inSet {
			p.conflicted[port] = true
			for _, o := range p.byPort[port] {
				o.refuse("ProtocolConflict")
			}
		}
		l.refuse("ProtocolConflict")
	default:
		p.judgeSameGroup(l, inSet)
	}
	p.byPort[port] = append(p.byPort[port], l)
	if !l.valid {
		return
	}
	host := fmt.Sprintf("%d %s %s", port, l.facts.Protocol, l.facts.Hostname)
	if p.hosts[host] {
		l.refuse("HostnameConflict")
		return
	}
	p.hosts[host] = true
}

// judgeSameGroup refuses a listener that shares a port with others whose protocols could.
func (p *portState) judgeSameGroup(l *listenerView, inSet bool) {
	reason := ""
	for _, o := range p.byPort[l.facts.Port] {
		same, layer4 := o.facts.Protocol == l.facts.Protocol, protocolGroups[l.facts.Protocol] == 2
		why := ""
		switch {
		case same && layer4:
			why = "ProtocolConflict"
		case !same && !layer4 && len(intersectHosts(o.facts.Hostname, []string{l.facts.Hostname})) > 0:
			why = "HostnameConflict"
		}
		if why == "" {
			continue
		}
		reason = why
		if !inSet {
			o.refuse(why)
		}
	}
	if reason != "" {
		l.refuse(reason)
	}
}

// refuse makes a listener invalid for a conflict.
func (l *listenerView) refuse(reason string) {
	why := "the same hostname on the same port as another listener"
	if reason == "ProtocolConflict" {
		why = "an incompatible protocol on the same port as another listener"
	}
	l.valid = false
	l.conditions = append(l.conditions, refused(reason, why),
		status.Condition{Type: "Conflicted", Status: "True", Reason: reason, Message: why}, notProgrammed(reason, why))
}

func refused(reason, why string) status.Condition {
	return status.Condition{Type: "Accepted", Status: "False", Reason: reason, Message: why}
}

func unresolved(reason, why string) status.Condition {
	return status.Condition{Type: "ResolvedRefs", Status: "False", Reason: reason, Message: why}
}

func notProgrammed(reason, why string) status.Condition {
	return status.Condition{Type: "Programmed", Status: "False", Reason: reason, Message: why}
}

// lastOfType is the conditions that stand: of several of a type the last one.
func lastOfType(all []status.Condition) []status.Condition {
	var out []status.Condition
	for _, c := range all {
		at := slices.IndexFunc(out, func(o status.Condition) bool { return o.Type == c.Type })
		if at < 0 {
			out = append(out, c)
		} else {
			out[at] = c
		}
	}
	return out
}
