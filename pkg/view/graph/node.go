package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// The states of what is named and not in the input.
const (
	stateMissing = "not in the input"
	stateAssumed = "assumed to exist"
)

// nodeID returns the id of a node. A Service that is a parent of routes has another id than the
// same Service as a backend.
func nodeID(n *topology.Node) string { return idForRole(n.Ref, n.Role) }

func idForRole(ref model.Ref, role topology.Role) string {
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

// addGraphNode returns the number of a node, and adds the node if it is not there.
func (d *topologyBuilder) addGraphNode(id string, ref model.Ref, kind string, labels func() map[string]string) int32 {
	if n, drawn := d.numberByID[id]; drawn {
		return n
	}
	n := int32(len(d.nodes))
	d.numberByID[id] = n
	d.nodes = append(d.nodes, GraphNode{ID: id, Ref: ref, Kind: kind, Labels: labels()})
	return n
}

// addNode returns the number of a target's node, and adds the node if it is not there. The
// instances of a route that others delegate to share one node.
func (d *topologyBuilder) addNode(id topology.NodeID) int32 {
	if d.numberByNode[id] < 0 {
		n := d.res.Node(id)
		d.numberByNode[id] = d.addGraphNode(nodeID(n), n.Ref, string(n.Role),
			func() map[string]string { return d.nodeLabels(n, id) })
	}
	number := d.numberByNode[id]
	if d.requestNodes[id] {
		d.nodes[number].Labels["request"] = EdgeTaken
	}
	return number
}

// nodeLabels returns the facts about a target that are worth showing.
func (d *topologyBuilder) nodeLabels(n *topology.Node, id topology.NodeID) map[string]string {
	out := map[string]string{}
	set := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	if n.Object == nil {
		set("state", d.absenceState(n))
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
			set("hostnames", strings.Join(hostnamesOf(n.Object), ", "))
		}
	case topology.Rule:
		set("matches", formatMatches(n))
	}
	return out
}

// absenceState says why nothing is known about the object of a node but its name.
func (d *topologyBuilder) absenceState(n *topology.Node) string {
	if state := d.unreadState(n.Ref); state != stateMissing {
		return state
	}
	switch n.Role {
	case topology.GatewayClass, topology.Backend, topology.Port:
		if d.res.Graph.IsAssumed(n.Ref) {
			return stateAssumed
		}
	}
	return stateMissing
}

// unreadState says why nothing was read of an object.
func (d *topologyBuilder) unreadState(ref model.Ref) string {
	if d.res.Snapshot.Cluster.IsUnreadRef(ref) {
		return "forbidden"
	}
	return stateMissing
}

func hostnamesOf(o *model.Object) []string {
	var out []string
	for _, h := range o.Body.At("spec", "hostnames").Items {
		out = append(out, fmt.Sprint(h.Value()))
	}
	return out
}

// addMissingNode returns the number of the node of something that is named and not there, and adds
// it. A section is added below its object, which may be there; a node that exists and has the same
// id is used as it is.
func (d *topologyBuilder) addMissingNode(ref model.Ref, role topology.Role) int32 {
	id, kind := idForRole(ref, role), role
	for _, known := range d.res.Lookup(ref) {
		if nodeID(d.res.Node(known)) == id {
			return d.addNode(known)
		}
	}
	if n, drawn := d.numberByID[id]; drawn {
		return n
	}
	if ref.Section != "" {
		kind = sectionRole(role)
	}
	n := d.addGraphNode(id, ref, string(kind), func() map[string]string {
		if ref.Section == "" && d.res.Snapshot.Get(ref) != nil {
			return map[string]string{}
		}
		return map[string]string{"state": d.unreadState(ref)}
	})
	if ref.Section != "" {
		d.edges = append(d.edges, edge{from: d.addMissingNode(ref.WithoutSection(), role), to: n, kind: parentEdge,
			dangling: true})
	}
	return n
}

// roleOfKind returns the role that an object of a kind would have if it were there.
func roleOfKind(gk model.GroupKind) topology.Role {
	switch {
	case strings.HasSuffix(gk.Kind, "Route"):
		return topology.Route
	case gatewayapi.IsListenerSet(gk):
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

// sectionRole returns the role of the sections of objects.
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
