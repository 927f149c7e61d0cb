package envoygateway

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// routeWriter writes what the controller reports about routes beyond what the Gateway API says.
type routeWriter struct {
	res      *resolve.Resolution
	tls      tlsTable
	overlaps routeOverlaps
}

// newRouteWriter prepares the conditions of routes at the controller's Gateways.
func newRouteWriter(r *resolve.Resolution) func(topology.NodeID, *status.Prediction) {
	w := &routeWriter{res: r, tls: newTLSTable(listBackendTLS(r.Snapshot))}
	w.overlaps = findOverlaps(r)
	return w.writeRoute
}

func (w *routeWriter) writeRoute(route topology.NodeID, p *status.Prediction) {
	var flaws *routeFlaws
	for i := range p.Ancestors {
		a := &p.Ancestors[i]
		if !w.isOwnEntry(a) {
			continue
		}
		if flaws == nil {
			flaws = w.judgeRoute(route)
		}
		if flaws.invalidRules {
			a.Conditions = []status.Condition{{Type: "Accepted", Status: "False", Reason: "InvalidRule",
				Message: "One and only one rule is supported"}}
			continue
		}
		for j := range a.Conditions {
			switch a.Conditions[j].Type {
			case "ResolvedRefs":
				a.Conditions[j] = flaws.addTo(a.Conditions[j])
			case "Accepted":
				a.Conditions[j] = flaws.acceptance(a.Conditions[j])
			}
		}
		if flaws.refused > 0 && flaws.refused < flaws.rules {
			a.Conditions = append(a.Conditions, status.Condition{Type: "PartiallyInvalid", Status: "True",
				Reason: joinReasons(flaws.refusals), Message: "Dropped rules: " + flaws.why})
		}
		if c, ok := w.overlaps.conditionFor(w.res, route, a); ok {
			a.Conditions = append(a.Conditions, c)
		}
	}
}

// isOwnEntry reports whether an entry is about one of the controller's Gateways.
func (w *routeWriter) isOwnEntry(a *status.Ancestor) bool {
	if a.Ref == nil {
		return false
	}
	for _, id := range w.res.Graph.Lookup(a.Ref.WithoutSection()) {
		n := w.res.Graph.Node(id)
		if n.Role == topology.ListenerSet && w.res.Graph.ListenerSet(id).Gateway == topology.None {
			continue
		}
		if (n.Role == topology.Gateway || n.Role == topology.ListenerSet) &&
			w.res.Graph.ImplementationName(id) == "envoygateway" {
			return true
		}
	}
	return false
}

// routeFlaws is what is wrong with what a route refers to: all reasons, which the controller joins.
type routeFlaws struct {
	reasons      map[string]bool
	messages     []string
	open         string // what is not known; "": nothing
	refusals     map[string]bool
	refused      int // rules that are refused
	rules        int
	why          string
	invalidRules bool // it has not the one rule that it has to have
}

func (f *routeFlaws) add(reason, message string) {
	f.reasons[reason] = true
	if !slices.Contains(f.messages, message) {
		f.messages = append(f.messages, message)
	}
}

func joinReasons(reasons map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(reasons)), ",")
}

// acceptance is the condition Accepted of a route with rules that are refused: all of them have it
// refused, unless no hostname fits, and some have it accepted, whatever else was said.
func (f *routeFlaws) acceptance(c status.Condition) status.Condition {
	switch {
	case f.refused == 0 || c.Status == "Unknown" || c.Reason == "NoMatchingListenerHostname":
		return c
	case f.refused == f.rules:
		return status.Condition{Type: c.Type, Status: "False", Reason: joinReasons(f.refusals), Message: f.why}
	}
	return status.Condition{Type: c.Type, Status: "True", Reason: "Accepted", Message: "Route is accepted"}
}

// addTo adds the flaws to the condition ResolvedRefs.
func (f *routeFlaws) addTo(c status.Condition) status.Condition {
	switch {
	case len(f.reasons) > 0:
		if c.Status == "False" {
			f = &routeFlaws{reasons: maps.Clone(f.reasons), messages: slices.Clone(f.messages)}
			if !f.knows(c.Reason) {
				f.add(c.Reason, c.Message)
			}
		}
		c.Status, c.Reason = "False", joinReasons(f.reasons)
		c.Message = strings.Join(f.messages, "; ")
	case f.open != "" && c.Status == "True":
		c.Status, c.Reason, c.Message = "Unknown", "NotEvaluated", f.open
	}
	return c
}

// knows reports whether a reason of the Gateway API is among the controller's: of a port that is not
// there the API says that the backend is not found.
func (f *routeFlaws) knows(reason string) bool {
	return f.reasons[reason] || reason == "BackendNotFound" && f.reasons["PortNotFound"]
}

// judgeRoute finds out what is wrong with what the rules of a route refer to.
func (w *routeWriter) judgeRoute(route topology.NodeID) *routeFlaws {
	n := w.res.Graph.Node(route)
	f := &routeFlaws{reasons: map[string]bool{}, refusals: map[string]bool{}}
	rules := n.Object.Body.At("spec", "rules")
	f.invalidRules = (n.Ref.Kind == "TCPRoute" || n.Ref.Kind == "UDPRoute") && rules.Len() != 1
	refs := map[int][]topology.BackendRef{} // by rule
	for _, section := range w.res.Graph.Sections(n.Ref) {
		for _, rule := range w.res.Graph.Lookup(n.Ref.WithSection(section)) {
			refs[w.res.Graph.Node(rule).Index] = w.res.Graph.BackendRefs(rule)
		}
	}
	for i, rule := range rules.Items {
		f.rules++
		if n.Ref.Kind == "HTTPRoute" || n.Ref.Kind == "GRPCRoute" {
			flaw := judgeRule(w.res.Snapshot, n.Ref, rule)
			if flaw.unresolved != "" {
				f.add(flaw.unresolved, flaw.what)
			}
			if flaw.refused != "" {
				f.refused++
				f.refusals[flaw.refused], f.why = true, flaw.why
			}
			if _, ok := readMatches(rule, n.Ref.Kind == "GRPCRoute"); !ok {
				continue // nothing else is made of it
			}
			w.judgeMirrors(f, route, rule)
		}
		for j, ref := range rule.Field("backendRefs").Items {
			if why := explainBackendFilters(n.Ref.Kind, ref); why != "" {
				f.add("UnsupportedRefValue", why)
			} else if len(refs[i]) == rule.Field("backendRefs").Len() {
				w.judgeBackend(f, n.Ref, refs[i][j])
			}
		}
	}
	return f
}

// judgeMirrors judges what a rule copies requests to, up to the first filter that is not taken.
func (w *routeWriter) judgeMirrors(f *routeFlaws, route topology.NodeID, rule model.Body) {
	n := w.res.Graph.Node(route)
	for _, filter := range rule.Field("filters").Items {
		kind := filter.Text("type")
		if kind != "ExtensionRef" && !slices.Contains(supportedFilters(n.Ref.Kind), kind) {
			return
		}
		if b, ok := w.res.Graph.JudgeBackendRef(route, filter.At("requestMirror", "backendRef")); ok && kind == "RequestMirror" {
			w.judgeBackend(f, n.Ref, b)
		}
	}
}

// judgeBackend judges one backendRef of a route.
func (w *routeWriter) judgeBackend(f *routeFlaws, route model.Ref, b topology.BackendRef) {
	if reason, message := explainBackend(w.res.Snapshot, route, b); reason != "" {
		f.add(reason, message)
		return
	}
	if b.Weight == 0 {
		return
	}
	policy := w.tls.policyFor(namePort(w.res.Snapshot, b.Ref, int64(b.Port), b.Port != 0))
	if policy == nil {
		return
	}
	switch fault := judgeAuthorities(policy, w.res.Snapshot); {
	case fault.reason != "":
		f.add("InvalidBackendTLS", formatSentence(fault.message))
	case fault.unknown:
		f.open = fault.message
	}
}

// explainBackend says why the controller cannot send to what a backendRef names, with its reason; ""
// if it can.
func explainBackend(in *model.Snapshot, route model.Ref, b topology.BackendRef) (reason, message string) {
	whole := b.Ref.WithoutSection()
	o := in.Get(whole)
	switch {
	case b.Reason == "BackendNotFound" && o != nil && o.Text("spec", "type") == "ExternalName", b.Reason == "" &&
		o != nil && whole.Kind == "Service" && o.Text("spec", "type") == "ExternalName":
		return "UnsupportedValue", whole.String() + " is of type ExternalName, which is not supported"
	case b.Reason == "BackendNotFound" && o != nil:
		return "PortNotFound", b.Message
	case b.Reason != "" || o == nil || b.Port == 0 || !gatewayapi.ListsPorts(whole.GroupKind()):
		return b.Reason, b.Message
	}
	port := manifest.FindServicePort(o, "", b.Port, route.Kind == "UDPRoute")
	if port != nil && port.UDP != (route.Kind == "UDPRoute") {
		return "PortNotFound", whole.String() + " has no port " + manifest.FormatInt(int(b.Port)) + " of the protocol"
	}
	return "", ""
}
