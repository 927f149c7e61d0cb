package nginx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// routeView is a route that the controller knows: it names a listener of one of its Gateways.
type routeView struct {
	id         topology.NodeID
	fault      string // why the controller takes it for invalid; "": it does not
	repeated   bool   // it comes to two listeners of one name: no parent of it is looked at
	parents    []*parentView
	usable     []bool // by rule: its matches and filters are valid
	conditions []status.Condition
}

// parentView is one listener that a parentRef means, or the parentRef itself.
type parentView struct {
	index    int       // of the parentRef
	written  model.Ref // the parentRef, with its defaults
	ref      model.Ref // the same, with the listener that it means
	port     int32
	owner    topology.NodeID // the Gateway, or the ListenerSet
	gateway  topology.NodeID
	attached bool
	failed   []status.Condition
	reached  []topology.NodeID // the listeners that it is attached to
	hosts    []hostAtPort      // the hosts that these leave to the route
}

// hostAtPort is a host on a port of a Gateway.
type hostAtPort struct {
	host string
	port int32
}

// viewRoute judges a route; nil if the controller does not know it.
func (v *controllerView) viewRoute(id topology.NodeID) *routeView {
	n := v.g.Node(id)
	r := &routeView{id: id}
	if r.parents, r.repeated = v.listParents(n); r.repeated {
		r.fault, r.parents = "it comes to two listeners of one name", nil
		return r
	}
	if len(r.parents) == 0 {
		return nil
	}
	v.judgeRules(r, n)
	v.judgeBackends(r, n)
	v.bindRoute(r, n)
	return r
}

// listParents lists the listeners that the parentRefs of a route mean. One without a section and a
// port means all listeners of its parent, of a Gateway also those of its ListenerSets, although it
// comes to none of these.
func (v *controllerView) listParents(route *topology.Node) (out []*parentView, repeated bool) {
	seen := map[model.Ref]bool{}
	for i, p := range route.Object.Body.At("spec", "parentRefs").Items {
		ref := model.Ref{Group: cmp.Or(p.Text("group"), gatewayGroup), Kind: cmp.Or(p.Text("kind"), "Gateway"),
			Namespace: cmp.Or(p.Text("namespace"), route.Ref.Namespace), Name: p.Text("name")}
		var view parentView
		var listeners []*listenerView
		for _, id := range v.g.Lookup(ref) {
			if gateway := v.gateways[id]; gateway != nil {
				view = parentView{index: i, ref: ref, owner: id, gateway: id}
				listeners = slices.Concat(gateway.listeners, gateway.taken)
			} else if s := v.sets[id]; s != nil {
				view = parentView{index: i, ref: ref, owner: id, gateway: s.gateway}
				listeners = s.listeners
			}
		}
		if view.ref == (model.Ref{}) {
			continue
		}
		section := p.Text("sectionName")
		view.written = ref.WithSection(section)
		if n, ok := p.Get("port").(int64); ok {
			view.port = int32(n)
		}
		var names []string
		switch {
		case section != "":
			names = []string{section}
		case view.port == 0:
			for _, l := range listeners {
				names = append(names, l.name)
			}
		default:
			out = append(out, &view)
		}
		for _, name := range names {
			one := view
			one.ref.Section = name
			key := model.Ref{Namespace: ref.Namespace, Name: ref.Name, Section: name}
			if seen[key] {
				return nil, true
			}
			seen[key] = true
			out = append(out, &one)
		}
	}
	return out, false
}

// bindRoute attaches a route to the listeners of its parents.
func (v *controllerView) bindRoute(r *routeView, n *topology.Node) {
	idle := false
	at := bindingRoute{node: n, refused: map[topology.NodeID]bool{}}
	for _, host := range n.Object.Body.At("spec", "hostnames").Items {
		at.hosts = append(at.hosts, host.Text())
	}
	for _, a := range v.g.Attachments(r.id) {
		at.refused[a.Listener] = a.State == topology.NotAllowedByListeners
	}
	external := v.findExternalName(r, n)
	for _, p := range r.parents {
		gateway := v.gateways[p.gateway]
		listeners := gateway.listeners
		set := v.sets[p.owner]
		if set != nil {
			listeners = set.listeners
		}
		found, exists := findListeners(listeners, p)
		switch {
		case !exists:
			p.fail("NoMatchingParent", p.ref.WithoutSection().String()+" has no such listener")
		case set != nil && !set.valid:
			p.fail("InvalidListenerSet", set.refusal.Message)
		}
		if n.Ref.Kind == "GRPCRoute" && gateway.proxy.value("disableHTTP2") == true {
			p.fail("UnsupportedConfiguration", "HTTP/2 is switched off, so that no GRPCRoute can be configured")
		}
		if len(p.failed) > 0 {
			continue
		}
		if svc := external; svc != "" && !gateway.proxy.has("dnsResolver") && gateway.proxy.uncertain == "" {
			p.failed = append(p.failed, unresolved("UnsupportedValue", svc+" takes a DNS resolver in the NginxProxy"))
		}
		valid, reason := at.attach(p, found)
		if reason != "" {
			p.fail(reason, "no listener takes the route")
			continue
		}
		p.attached = true
		idle = idle || !valid
	}
	if idle {
		r.conditions = append(r.conditions, refused("InvalidListener", "the listener is not valid"))
	}
	v.isolateHosts(r)
}

func (p *parentView) fail(reason, why string) { p.failed = append(p.failed, refused(reason, why)) }

// findListeners finds the listeners that a parentRef means, of those routes can attach to.
func findListeners(all []*listenerView, p *parentView) (found []*listenerView, exists bool) {
	for _, l := range all {
		if p.ref.Section != "" && (l.name != p.ref.Section || p.port != 0 && l.facts.Port != p.port) ||
			p.ref.Section == "" && l.facts.Port != p.port {
			continue
		}
		exists = true
		if l.attachable {
			found = append(found, l)
		}
	}
	return found, exists
}

// bindingRoute is a route while it is attached to listeners.
type bindingRoute struct {
	node    *topology.Node
	hosts   []string                 // its own; nil: every host
	refused map[topology.NodeID]bool // by listener: it does not take routes of the kind, or of the namespace
}

// attach attaches a route to listeners: whether one of them is valid, or why to none.
func (r *bindingRoute) attach(p *parentView, listeners []*listenerView) (valid bool, reason string) {
	if len(listeners) == 0 {
		return false, "InvalidListener"
	}
	reason = "NotAllowedByListeners"
	for _, l := range listeners {
		if r.refused[l.id] || !slices.Contains(l.facts.Kinds, r.node.Ref.GroupKind()) {
			continue
		}
		hosts := intersectHosts(l.facts.Hostname, r.hosts)
		if len(hosts) == 0 {
			if reason != "" {
				reason = "NoMatchingListenerHostname"
			}
			continue
		}
		reason = ""
		valid = valid || l.valid
		p.reached = append(p.reached, l.id)
		for _, host := range hosts {
			p.hosts = append(p.hosts, hostAtPort{host, l.facts.Port})
		}
	}
	return valid, reason
}

// intersectHosts is the hosts of a route at a listener, "" for every host.
func intersectHosts(listener string, route []string) []string {
	if len(route) == 0 {
		return []string{listener}
	}
	var out []string
	for _, h := range gatewayapi.IntersectHostnames(listener, route) {
		out = append(out, h.Effective)
	}
	return out
}

// isolateHosts takes from a route the hosts that another listener of the same Gateway or ListenerSet
// has itself on the port. A parentRef by port alone keeps them.
func (v *controllerView) isolateHosts(r *routeView) {
	for _, p := range r.parents {
		if p.ref.Section == "" || len(p.hosts) == 0 {
			continue
		}
		listeners := v.gateways[p.gateway].listeners
		if p.owner != p.gateway {
			listeners = v.gateways[p.gateway].taken
		}
		p.hosts = slices.DeleteFunc(p.hosts, func(h hostAtPort) bool {
			return slices.ContainsFunc(listeners, func(l *listenerView) bool {
				return l.owner == p.owner && l.name != p.ref.Section && l.facts.Hostname != "" &&
					l.facts.Hostname == h.host && l.facts.Port == h.port
			})
		})
	}
}

// listReached lists the listeners that a route is attached to, each once.
func (r *routeView) listReached() []topology.NodeID {
	var out []topology.NodeID
	for _, p := range r.parents {
		for _, id := range p.reached {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// gatewaysOf lists the Gateways that a route names, each once.
func (r *routeView) gatewaysOf() []topology.NodeID {
	var out []topology.NodeID
	for _, p := range r.parents {
		if !slices.Contains(out, p.gateway) {
			out = append(out, p.gateway)
		}
	}
	return out
}

// findExternalName finds a Service in a valid rule that stands for a name elsewhere; "" if there is
// none.
func (v *controllerView) findExternalName(r *routeView, n *topology.Node) string {
	found := ""
	v.eachBackend(r, n, func(ref model.Body, to model.Ref) {
		reason, _ := v.judgeBackend(n.Ref, ref, to)
		if o := v.in.Get(to); o != nil && o.Text("spec", "type") == "ExternalName" &&
			(reason == "" || reason == "UnsupportedProtocol") {
			found = fmt.Sprintf("%s of type ExternalName", to)
		}
	})
	return found
}
