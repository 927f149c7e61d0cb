package topology

import (
	"slices"
	"strconv"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// BackendRef is one backendRef of a rule as a request meets it.
type BackendRef struct {
	// of the backend; its Section is the name of the Service's or ServiceImport's port, else the
	// port's number
	Ref    model.Ref
	Port   int32 // 0: not given
	Weight int   // 1 unless it is written
	// why nothing can be sent there: InvalidKind, RefNotPermitted or BackendNotFound (gatewayapi
	// G34), or what the implementation has; "": it can
	Reason  string
	Message string // a plain sentence for Reason, or for what is not known
	// the input does not tell whether it can be used: it may not be read, or is a route that
	// another delegates to
	Unknown bool
	Assumed bool // it is not in the input and assumed to exist (G36)
	Foreign bool // of an InvalidKind: manifests do not define the kind, and an implementation may have it
}

// BackendRefs lists the backendRefs of a rule in document order, judged like the ResolvedRefs
// condition of its route, and a port that a Service does not have beside. A reference that cannot
// be read is left out. It is computed when asked for.
func (g *Graph) BackendRefs(rule NodeID) []BackendRef {
	n := &g.nodes.list[rule]
	if n.Role != Rule || n.Object == nil {
		return nil
	}
	from, reading := g.referrerOf(n)
	var r manifest.Reader // its problems were reported when the graph was built
	spec := r.ReadSpec(n.Object)
	var out []BackendRef
	judge := g.backendJudgeOf(g.nodes.byObject[n.Object])
	at := spec.At.AtField("rules").AtEntry(n.Index).AtField("backendRefs")
	for i, v := range n.Object.Body.At("spec", "rules", manifest.FormatInt(n.Index), "backendRefs").Items {
		f := r.ReadEntry(v, at.AtEntry(i))
		if to, ok := f.ReadBackendRef(); ok {
			to.Ref = reading.Apply(to.Ref)
			b := g.resolveBackendRef(from, to, readWeight(f.Body.Field("weight")))
			if judge != nil {
				if reason, message := judge(n.Ref.WithoutSection(), b); reason != "" {
					b.Reason, b.Message = reason, message
				}
			}
			out = append(out, b)
		}
	}
	return out
}

// BackendJudge says why an implementation cannot use what a backendRef of a route names, with the
// reason of the ResolvedRefs condition; "" if it can.
type BackendJudge func(route model.Ref, b BackendRef) (reason, message string)

// backendJudgeOf returns the judge of the implementation whose all Gateways of a route are; nil if
// there is none.
func (g *Graph) backendJudgeOf(route NodeID) BackendJudge {
	var out BackendJudge
	if len(g.parts.BackendJudges) == 0 {
		return nil
	}
	for _, a := range g.Attachments(route) {
		if a.State != Accepted || a.Listener == None {
			continue
		}
		judge := g.parts.BackendJudges[g.ImplementationName(a.Listener)]
		if judge == nil {
			return nil
		}
		out = judge
	}
	return out
}

// referrerOf returns who refers to the backends of a route or one of its rules, and how its
// references are read.
func (g *Graph) referrerOf(n *Node) (reference.Referrer, gatewayapi.RefReading) {
	route := g.nodes.byObject[n.Object]
	reading := g.parts.Readings[route]
	return reference.Referrer{Kind: n.Ref.GroupKind(), Namespace: n.Ref.Namespace,
		Judged: IsJudged(g.Attachments(route)), NoGrants: reading.NoGrants || isMeshBound(g, n.Object)}, reading
}

// JudgeBackendRef judges what a filter of a route refers to, as BackendRefs does. It is not ok if it
// cannot be read.
func (g *Graph) JudgeBackendRef(route NodeID, ref model.Body) (BackendRef, bool) {
	n := &g.nodes.list[route]
	if n.Object == nil {
		return BackendRef{}, false
	}
	from, reading := g.referrerOf(n)
	var r manifest.Reader
	f := r.ReadEntry(ref, r.ReadSpec(n.Object).At.AtField("rules"))
	to, ok := f.ReadBackendRef()
	if !ok {
		return BackendRef{}, false
	}
	to.Ref = reading.Apply(to.Ref)
	return g.resolveBackendRef(from, to, 1), true
}

func (g *Graph) resolveBackendRef(from reference.Referrer, to manifest.BackendRef, weight int) BackendRef {
	out := BackendRef{Ref: to.Ref, Port: to.Port, Weight: weight}
	if gatewayapi.IsRoute(to.Ref.GroupKind()) {
		out.Unknown, out.Message = true, "delegation to kind "+to.Ref.Kind+" is not evaluated"
		return out
	}
	o := g.Object(to.Ref)
	v := g.JudgeBackend(from, to.Ref, o != nil || g.parts.NamesNoObject != nil && g.parts.NamesNoObject(to.Ref))
	out.Reason, out.Assumed, out.Foreign = v.Reason, v.Assumed, v.Foreign
	if to.Port != 0 {
		out.Ref.Section = manifest.FormatInt(int(to.Port))
	}
	switch {
	case v.Reason != "":
		out.Message = to.Ref.String() + ", " + v.Why
		return out
	case v.Open != "":
		out.Unknown, out.Message = true, v.Open
	}
	if gk := to.Ref.GroupKind(); o != nil && to.Port != 0 && gatewayapi.ListsPorts(gk) {
		if p := manifest.FindServicePort(o, "", to.Port, from.Kind == gatewayapi.UDPRouteKind); p != nil {
			out.Ref.Section = p.Section
		} else if gk == gatewayapi.ServiceKind {
			out.Reason, out.Message = string(gatewayv1.RouteReasonBackendNotFound), to.Ref.String()+" has no port "+
				manifest.FormatInt(int(to.Port))
		}
	}
	return out
}

// readWeight reads a weight; one that cannot be read is the default (gatewayapi G5).
func readWeight(v model.Body) int {
	switch n := v.Value().(type) {
	case int64:
		return max(0, int(n))
	case float64:
		return max(0, int(n))
	}
	return 1
}

// isMeshBound reports whether all parents of a route are Services.
func isMeshBound(g *Graph, route *model.Object) bool {
	all := g.Attachments(g.nodes.byObject[route])
	return len(all) > 0 && !slices.ContainsFunc(all, func(a Attachment) bool {
		return a.Verdict == nil &&
			!gatewayapi.IsMeshParent(a.Parent.GroupKind())
	})
}

// SectionsFunc names the parts of a backend of an implementation's kind.
type SectionsFunc func(o *model.Object) []string

// HasBackendSection reports whether a reference is to a part that an object has, of a kind whose
// parts are known; the graph has it only where a rule sends to the object.
func (g *Graph) HasBackendSection(ref model.Ref, o *model.Object) bool {
	names := g.parts.Sections[ref.GroupKind()]
	return names != nil && slices.Contains(names(o), ref.Section)
}

// IsNumberedPort reports whether a reference is to a port by its number, of a kind whose ports are
// those that something sends to.
func (g *Graph) IsNumberedPort(ref model.Ref) bool {
	_, err := strconv.ParseUint(ref.Section, 10, 16)
	return err == nil && g.parts.NumberedPorts[ref.GroupKind()]
}
