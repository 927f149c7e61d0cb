package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// The types of the conditions that Gateways, their listeners, routes and policies have in common.
const (
	typeAccepted     = string(gatewayv1.GatewayConditionAccepted)
	typeProgrammed   = string(gatewayv1.GatewayConditionProgrammed)
	typeResolvedRefs = string(gatewayv1.GatewayConditionResolvedRefs)
	typeConflicted   = string(gatewayv1.ListenerConditionConflicted)
)

// PredictObjects predicts the conditions of Gateways, ListenerSets, listeners and routes
// with the marks that policies of the given kinds leave on them.
func PredictObjects(r *resolve.Resolution, kinds []*resolve.Kind, funcs Functions) []Prediction {
	marks := map[model.Ref][]Mark{}
	for _, k := range kinds {
		if mark, ok := funcs.Markers[k.Status.Marks]; ok && (len(k.Policies) > 0 || k.Filters != nil) {
			for _, m := range mark(r, k) {
				marks[m.Object] = append(marks[m.Object], withholdMark(r, k, m))
			}
		}
	}
	g := r.Graph
	attached, others := countAttachedRoutes(r), newUnreadListeners(r)
	var out []Prediction
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Object == nil || n.Hop > 0 {
			continue
		}
		var p Prediction
		switch n.Role {
		case topology.Gateway:
			p = predictGateway(g, id, others)
			p.AttachedListenerSets = countAttachedSets(r, id)
		case topology.ListenerSet:
			p = predictListenerSet(g, id, others)
		case topology.Listener:
			p = predictListener(g, id, others)
			if count, known := attached[id]; known {
				p.AttachedRoutes = &count
			}
		case topology.Route:
			p = predictRoute(r, id)
		default:
			continue
		}
		out = append(out, p)
	}
	for _, revise := range funcs.Revisers {
		out = revise(r, out)
	}
	for i := range out {
		out[i].addMarks(marks[out[i].Object])
	}
	return out
}

// addMarks adds conditions that policies leave: the object's own, or for every parent in the entry
// of their controller, which is that of the route where the parent is the controller's.
func (p *Prediction) addMarks(marks []Mark) {
	parents := len(p.Ancestors)
	for _, m := range marks {
		if m.Controller == "" {
			p.Ancestors[0].Conditions = append(p.Ancestors[0].Conditions, m.Condition)
			continue
		}
		if m.Replaces {
			p.replaceCondition(m, parents)
			continue
		}
		for i := range parents {
			if by := p.Ancestors[i].Controller; m.Own && by != "" && by != m.Controller {
				continue
			}
			e := p.entryOfController(p.Ancestors[i], m.Controller)
			e.Conditions = append(e.Conditions, m.Condition)
		}
	}
}

// entryOfController returns the entry of a controller for the same parent as another one, and adds
// it if it is missing.
func (p *Prediction) entryOfController(of Ancestor, controller string) *Ancestor {
	for i := range p.Ancestors {
		if a := &p.Ancestors[i]; *a.Ref == *of.Ref && a.Port == of.Port && a.Controller == controller {
			return a
		}
	}
	p.Ancestors = append(p.Ancestors, Ancestor{Ref: of.Ref, Port: of.Port, Controller: controller})
	return &p.Ancestors[len(p.Ancestors)-1]
}

// replaceCondition puts a mark into the entries of its controller, and those of which the
// controller is not known, in the place of the condition of its type.
func (p *Prediction) replaceCondition(m Mark, parents int) {
	for i := range p.Ancestors[:parents] {
		a := &p.Ancestors[i]
		at := slices.IndexFunc(a.Conditions, func(c Condition) bool { return c.Type == m.Condition.Type })
		if at >= 0 && (a.Controller == "" || a.Controller == m.Controller) {
			a.Conditions = slices.Clone(a.Conditions)
			a.Conditions[at] = m.Condition
		}
	}
}

// countAttachedRoutes counts for every listener the routes that it accepts (gatewayapi G31). Where
// a cluster did not let us read whether there are more, there is no number.
func countAttachedRoutes(r *resolve.Resolution) map[topology.NodeID]int {
	g, out, open := r.Graph, map[topology.NodeID]int{}, map[topology.NodeID]bool{}
	for _, id := range g.Order(topology.Traffic) {
		switch g.Node(id).Role {
		case topology.Listener:
			out[id] = 0
			open[id] = g.MayMissRoutes(id)
		case topology.Route:
			counted := map[topology.NodeID]bool{}
			for _, a := range g.Attachments(id) {
				if a.State == topology.Accepted && a.Listener != topology.None && !counted[a.Listener] {
					counted[a.Listener] = true
					out[a.Listener]++
				}
				if a.State == topology.Unknown && a.Listener != topology.None && r.Snapshot.Cluster != nil {
					open[a.Listener] = true
				}
			}
		}
	}
	maps.DeleteFunc(out, func(id topology.NodeID, _ int) bool { return open[id] })
	return out
}

// countListeners counts the listeners of a Gateway or a ListenerSet: all, those that are not valid,
// those of them that are not even accepted, and those of which that is not known.
func countListeners(g *topology.Graph, id topology.NodeID) (total, bad, refused, doubtful int) {
	for _, l := range g.Children(topology.Traffic, id) {
		if g.Node(l).Role != topology.Listener {
			continue
		}
		total++
		switch f := g.Listener(l); {
		case !f.Accepted:
			refused++
			bad++
		case !f.Valid:
			bad++
		case f.ValidityUnknown:
			doubtful++
		}
	}
	return total, bad, refused, doubtful
}

// listenersNotValid is the condition of what is accepted although some of its listeners are not
// valid.
func listenersNotValid(bad, total int) Condition {
	return Condition{typeAccepted, "True", string(gatewayv1.GatewayReasonListenersNotValid),
		fmt.Sprintf("%d of %d listeners are not valid", bad, total)}
}

func predictGateway(g *topology.Graph, id topology.NodeID, others unreadListeners) Prediction {
	total, bad, refused, doubtful := countListeners(g, id)
	c := Condition{typeAccepted, "True", string(gatewayv1.GatewayReasonAccepted), "the Gateway is accepted"}
	switch {
	case doubtful > 0 && (bad == 0 || bad+doubtful == total): // the others decide otherwise
		c = Condition{typeAccepted, "Unknown", "NotEvaluated",
			fmt.Sprintf("%d of %d listeners depend on certificates or ReferenceGrants that are forbidden",
				doubtful, total)}
	case refused > 0 && refused == total:
		c = Condition{typeAccepted, "False", string(gatewayv1.GatewayReasonListenersNotValid), "no listener is valid"}
	case others.conflictDoubt(id) != "":
		c = Condition{typeAccepted, "Unknown", "NotEvaluated", others.conflictDoubt(id)}
	case bad > 0:
		c = listenersNotValid(bad, total)
	}
	conditions := []Condition{c}
	if u, ok := g.ClientCertificate(id); ok { // the condition is about references that are no listener's
		conditions = append(conditions, resolvedRefsCondition(u))
	}
	return Prediction{Object: g.Node(id).Ref, Ancestors: []Ancestor{{Conditions: conditions}}}
}

func predictListener(g *topology.Graph, id topology.NodeID, others unreadListeners) Prediction {
	f := g.Listener(id)
	accepted := Condition{typeAccepted, "True", string(gatewayv1.ListenerReasonAccepted), "the listener is accepted"}
	switch {
	case f.Unsupported:
		accepted = Condition{typeAccepted, "False", string(gatewayv1.ListenerReasonUnsupportedProtocol),
			fmt.Sprintf("protocol %q is not one of the Gateway API's", f.Protocol)}
	case f.Refused.Reason != "":
		accepted = Condition{typeAccepted, "False", f.Refused.Reason, f.Refused.Message}
	case f.Refused.Message != "":
		accepted = Condition{typeAccepted, "Unknown", "NotEvaluated", f.Refused.Message}
	}
	resolved := resolvedRefsCondition(f.Refs)
	if f.InvalidKinds {
		resolved = Condition{typeResolvedRefs, "False", string(gatewayv1.ListenerReasonInvalidRouteKinds),
			"allowedRoutes names kinds that the protocol does not take"}
	}
	p := Prediction{Object: g.Node(id).Ref, Ancestors: []Ancestor{{Conditions: []Condition{accepted, resolved}}},
		SupportedKinds: []string{}}
	if f.WithoutCertificate != "" { // all that is ever predicted of a listener's being programmed, but for conflicts
		p.Ancestors[0].Conditions = append(p.Ancestors[0].Conditions, Condition{typeProgrammed, "False",
			string(gatewayv1.ListenerReasonInvalid), f.WithoutCertificate})
	}
	p.Ancestors[0].Conditions = addConflicts(g, id, p.Ancestors[0].Conditions, others)
	for _, gk := range f.Kinds {
		p.SupportedKinds = append(p.SupportedKinds, gk.String())
	}
	return p
}

// predictRoute returns an entry for every parentRef of a route, each judged by itself (gatewayapi
// G11, G17, G34).
func predictRoute(r *resolve.Resolution, id topology.NodeID) Prediction {
	g := r.Graph
	resolved := resolvedRefsCondition(g.Unresolved(id))
	p := Prediction{Object: g.Node(id).Ref}
	for _, v := range g.ParentVerdicts(id) {
		if v.Implicit && v.State != topology.Accepted { // nobody named the Gateway: it has nothing to say
			continue
		}
		if v.Unreported {
			continue
		}
		parent := v.Parent
		accepted := Condition{typeAccepted, "False", string(v.State), v.Reason}
		switch {
		case v.State == topology.Accepted:
			accepted.Status = "True"
		case v.State == topology.Unknown:
			accepted.Status, accepted.Reason = "Unknown", "NotEvaluated"
		case v.Missing:
			accepted.Status = "Unknown"
		}
		refs := resolved
		if v.MaybeUnreported {
			refs = Condition{typeResolvedRefs, "Unknown", "NotEvaluated", v.Reason}
		}
		entry := Ancestor{Ref: &parent, Port: v.Port, Controller: controllerOf(r, parent),
			Conditions: []Condition{accepted, refs}}
		if v.Verdict != nil {
			entry.Controller, entry.Conditions = v.Verdict.Controller, []Condition{accepted}
			if v.Verdict.Refs != nil {
				entry.Conditions = append(entry.Conditions, resolvedRefsCondition(*v.Verdict.Refs))
			}
		}
		p.Ancestors = append(p.Ancestors, entry)
	}
	return p
}

// controllerOf returns the controller of the class of a Gateway, or of a ListenerSet's, "" if the
// input does not tell.
func controllerOf(r *resolve.Resolution, gateway model.Ref) string {
	if gatewayapi.IsListenerSet(gateway.GroupKind()) {
		ids := r.Graph.Lookup(gateway.WithoutSection())
		if len(ids) == 0 || r.Graph.ListenerSet(ids[0]).Gateway == topology.None {
			return ""
		}
		gateway = r.Graph.Node(r.Graph.ListenerSet(ids[0]).Gateway).Ref
	}
	o := r.Snapshot.Get(gateway)
	if o == nil || !strings.HasSuffix(gateway.Kind, "Gateway") {
		return ""
	}
	class := r.Snapshot.Get(model.Ref{Group: gateway.Group, Kind: "GatewayClass",
		Name: o.Text("spec", "gatewayClassName")})
	if class == nil {
		return ""
	}
	return class.Text("spec", "controllerName")
}
