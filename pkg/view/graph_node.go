package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// absent is the state of what is named and not in the input.
const absent = "not in the input"

// nodeID tells nodes apart. A Service that is a parent of routes is drawn beside the same Service as a backend.
func nodeID(n *topology.Node) string { return idOf(n.Ref, n.Role) }

func idOf(ref model.Ref, role topology.Role) string {
	if role == topology.Frontend {
		return refID(ref) + "#mesh"
	}
	return refID(ref)
}

func refID(ref model.Ref) string {
	id := ref.GroupKind().String() + "/" + ref.FullName()
	if ref.Section != "" {
		id += "#" + ref.Section
	}
	return id
}

// add is the number of a node, which is drawn if it is not yet.
func (d *drawing) add(id string, ref model.Ref, kind string, labels func() map[string]string) int32 {
	if n, drawn := d.number[id]; drawn {
		return n
	}
	n := int32(len(d.nodes))
	d.number[id] = n
	d.nodes = append(d.nodes, GraphNode{ID: id, Ref: ref, Kind: kind, Labels: labels()})
	return n
}

// node is the number of a target's node, which is drawn if it is not yet. The instances of a route that others delegate to are drawn as one.
func (d *drawing) node(id topology.NodeID) int32 {
	if d.numberOf[id] < 0 {
		n := d.res.Node(id)
		d.numberOf[id] = d.add(nodeID(n), n.Ref, string(n.Role), func() map[string]string { return d.labels(n, id) })
	}
	number := d.numberOf[id]
	if d.taken[id] {
		d.nodes[number].Labels["request"] = EdgeTaken
	}
	return number
}

// labels are the facts about a target that are worth showing.
func (d *drawing) labels(n *topology.Node, id topology.NodeID) map[string]string {
	out := map[string]string{}
	set := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	if n.Object == nil {
		set("state", d.absence(n))
	}
	switch n.Role {
	case topology.Frontend:
		set("mesh", "parent of routes")
	case topology.Listener:
		l := d.res.Graph.Listener(id)
		set("protocol", l.Protocol)
		set("hostname", l.Hostname)
		if l.Port != 0 {
			set("port", strconv.Itoa(int(l.Port)))
		}
	case topology.Route:
		if n.Object != nil {
			set("hostnames", strings.Join(hostnames(n.Object), ", "))
		}
	case topology.Rule:
		set("matches", matchesOf(n))
	}
	return out
}

// absence says why nothing is known about the object of a node but its name.
func (d *drawing) absence(n *topology.Node) string {
	if state := d.unread(n.Ref); state != absent {
		return state
	}
	switch n.Role {
	case topology.GatewayClass, topology.Backend, topology.Port:
		if d.res.Graph.Assumed(n.Ref) {
			return "assumed to exist"
		}
	}
	return absent
}

// unread says why nothing was read of an object.
func (d *drawing) unread(ref model.Ref) string {
	if d.res.Snapshot.Cluster.MissesRef(ref) {
		return "may not be read"
	}
	return absent
}

func hostnames(o *model.Object) []string {
	var out []string
	for _, h := range o.Body.At("spec", "hostnames").Items {
		out = append(out, fmt.Sprint(h.Value()))
	}
	return out
}

// missing is the number of the node of what is named and not there. A section is drawn below its object, which may be there; one that is there
// and cannot be named so is drawn as it is.
func (d *drawing) missing(ref model.Ref, role topology.Role) int32 {
	id, kind := idOf(ref, role), role
	for _, known := range d.res.Lookup(ref) {
		if nodeID(d.res.Node(known)) == id {
			return d.node(known)
		}
	}
	if n, drawn := d.number[id]; drawn {
		return n
	}
	if ref.Section != "" {
		kind = sectionRole(role)
	}
	n := d.add(id, ref, string(kind), func() map[string]string {
		if ref.Section == "" && d.res.Snapshot.Get(ref) != nil {
			return map[string]string{}
		}
		return map[string]string{"state": d.unread(ref)}
	})
	if ref.Section != "" {
		d.edges = append(d.edges, edge{from: d.missing(ref.WithoutSection(), role), to: n, kind: parentEdge, dangling: true})
	}
	return n
}

// roleOf is the role that an object would have if it were there.
func roleOf(gk model.GroupKind) topology.Role {
	switch {
	case strings.HasSuffix(gk.Kind, "Route"):
		return topology.Route
	case topology.IsListenerSet(gk):
		return topology.ListenerSet
	}
	switch gk.Kind {
	case "GatewayClass":
		return topology.GatewayClass
	case "Gateway":
		return topology.Gateway
	case "Namespace":
		return topology.Namespace
	case "Service", "ServiceImport":
		return topology.Backend
	}
	return topology.Opaque
}

// sectionRole is the role of the sections of objects.
func sectionRole(of topology.Role) topology.Role {
	switch of {
	case topology.Gateway, topology.ListenerSet:
		return topology.Listener
	case topology.Route:
		return topology.Rule
	case topology.Backend:
		return topology.Port
	}
	return of
}
