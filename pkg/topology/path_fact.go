package topology

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// The facts of nodes that a plan may ask for: what a path is, beside its nodes.
const (
	factProtocol   = "protocol"    // of a listener
	factTLSMode    = "tlsMode"     // of a listener for HTTPS or TLS: Terminate or Passthrough
	factRouteKind  = "routeKind"   // of a route
	factController = "controller"  // of a GatewayClass: its controllerName
	factBackend    = "backendKind" // of a backend or a port: the kind of its object
	factListeners  = "listeners"   // of a Gateway: PROTOCOL:PORT, or PROTOCOL:PORT:TLSMODE, of each of its listeners
	factAction     = "action"      // of a rule: forward; redirect; none, if it has neither a backend nor a redirect
)

// FactTarget is the fact of what the result is for: the role of a path's last node.
const FactTarget = "target"

// PathFacts returns the names of the facts, sorted.
func PathFacts() []string {
	return []string{factAction, factBackend, factController, factListeners, factProtocol, factRouteKind,
		FactTarget, factTLSMode}
}

// PathFact returns what a node says of the paths through it, "" if that is not its business.
func (g *Graph) PathFact(id NodeID, name string) string {
	n := &g.nodes.list[id]
	switch {
	case name == FactTarget:
		return string(n.Role)
	case name == factListeners && n.Role == Gateway:
		return g.formatListeners(id)
	case name == factProtocol && n.Role == Listener:
		return g.Listener(id).Protocol
	case name == factTLSMode && n.Role == Listener:
		return g.Listener(id).TLSMode
	case name == factRouteKind && n.Role == Route:
		return n.Ref.Kind
	case name == factBackend && (n.Role == Backend || n.Role == Port):
		return n.Ref.Kind
	case name == factAction && n.Role == Rule && n.Object != nil:
		return ruleAction(n.Object.Body.At("spec", "rules", manifest.FormatInt(n.Index)))
	case name == factController && n.Role == GatewayClass && n.Object != nil:
		return n.Object.Text("spec", "controllerName")
	}
	return ""
}

// formatListeners returns what the listeners of a Gateway are for, those of its listener sets too.
func (g *Graph) formatListeners(id NodeID) string {
	var out []string
	for _, child := range g.Children(Traffic, id) {
		switch g.nodes.list[child].Role {
		case Listener:
			l := g.Listener(child)
			text := l.Protocol + ":" + manifest.FormatInt(int(l.Port))
			if l.TLSMode != "" {
				text += ":" + l.TLSMode
			}
			out = append(out, text)
		case ListenerSet:
			if text := g.formatListeners(child); text != "" {
				out = append(out, text)
			}
		}
	}
	return strings.Join(out, " ")
}

// ruleAction returns what a rule does with requests.
func ruleAction(rule model.Body) string {
	for _, f := range rule.Field("filters").Items {
		if f.Text("type") == "RequestRedirect" {
			return "redirect"
		}
	}
	if rule.Field("backendRefs").Len() == 0 {
		return "none"
	}
	return "forward"
}
