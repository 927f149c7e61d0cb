package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// referenceJudge judges what routes refer to.
type referenceJudge struct {
	in                 *model.Snapshot
	coverage           coverage
	grants             grantSet
	known              map[model.GroupKind]struct{} // kinds of the Gateway API, and those with objects or a CRD in the input
	unfollowedBackends []model.GroupKind            // kinds that an implementation of the input takes as backends, and nobody else
	delegationHidden   bool                         // whether some route hands over to others is decided by grants that may not be read
}

// referrer is what matters of the route that refers.
type referrer struct {
	kind      model.GroupKind
	namespace string
	mesh      bool // all its parents are Services: its backends need no grant (gatewayapi G33)
	judged    bool // an implementation without Gateways decided about its parents
}

// judgement is what became of a reference to a backend.
type judgement struct {
	reason    string // of the route's ResolvedRefs condition, where the backend cannot be used
	code      model.Code
	why, hint string // why ends a sentence that names the backend
	open      string // what was not read that could forbid it; the backend is taken to be good
	assumed   bool   // the backend is not in the input and assumed to exist
	foreign   bool   // manifests do not define its kind, and an implementation may have it
}

// judgeBackend judges a reference to a backend, which is in the input or not: its kind, then the
// grant, then whether it exists (gatewayapi G34).
func (f *referenceJudge) judgeBackend(from referrer, to model.Ref, exists bool) judgement {
	gk := to.GroupKind()
	switch {
	case !canBeBackend(gk):
		return judgement{reason: "InvalidKind", code: model.BackendNotFound, why: "which cannot be a backend",
			hint: `the standard backend is kind Service of group ""`}
	case !f.IsKnownKind(gk) && !isInferencePool(gk):
		return judgement{reason: "InvalidKind", code: model.BackendNotFound, why: "and kind " + gk.String() + " is nowhere defined", foreign: f.in.Cluster == nil,
			hint: "if the implementation has that kind, add its CRD or an object of it"}
	}
	var v judgement
	if !from.mesh && !f.grants.isAllowed(from.kind, from.namespace, to) {
		if !f.coverage.isWithheld(grantKind, to.Namespace) {
			return judgement{reason: "RefNotPermitted", code: model.RefNotPermitted, why: "and no ReferenceGrant permits that",
				hint: grantHint(from.kind, from.namespace, to)}
		}
		v.open = "the ReferenceGrants in namespace " + to.Namespace + " may not be read"
	}
	switch {
	case exists:
	case model.HasVariable(to.Name) || model.HasVariable(to.Namespace):
		v.assumed = true
		if v.open == "" {
			v.open = "an unrendered variable: what " + to.String() + " would be is not known"
		}
	case f.isComplete(to):
		return judgement{reason: "BackendNotFound", code: model.BackendNotFound, why: "which does not exist"}
	default:
		v.assumed = true
		if v.open == "" && f.coverage.isWithheld(gk, to.Namespace) {
			v.open = to.String() + " may not be read"
		}
	}
	return v
}

// isComplete reports whether everything of ref's kind in its namespace is in the input (gatewayapi
// G36).
func (f *referenceJudge) isComplete(ref model.Ref) bool {
	switch gk := ref.GroupKind(); gk {
	case serviceKind, xBackendKind:
		return f.coverage.hasAllBackends(gk, ref.Namespace)
	case serviceImportKind: // made by a controller, and seldom in manifests
		return f.coverage.cluster.HasReadAll(gk, ref.Namespace)
	}
	return false
}

// IsAssumed reports whether an object that is not in the input is assumed to exist where something
// refers to it: a GatewayClass, or a backend, unless everything of its kind in its namespace is in
// the input (gatewayapi G36).
func (f *referenceJudge) IsAssumed(ref model.Ref) bool {
	switch gk := ref.GroupKind(); {
	case gk == gatewayClassKind:
		return !f.coverage.cluster.HasReadAll(gk, "")
	case !canBeBackend(gk), !f.IsKnownKind(gk) && !isInferencePool(gk):
		return false
	}
	return !f.isComplete(ref.WithoutSection())
}

// canBeBackend reports whether objects of the kind can be backends: in the groups whose kinds are all known only those that are.
func canBeBackend(gk model.GroupKind) bool {
	switch gk.Group {
	case coreGroup, gatewayGroup, experimentalGroup:
		return gk == serviceKind || gk == xBackendKind
	}
	return true
}

// IsKnownKind reports whether a kind is defined: by the Gateway API or its surroundings,
// by an object or a CRD of the input, or by the cluster. A target of any other kind is a
// virtual one (gep713 P14).
func (f *referenceJudge) IsKnownKind(gk model.GroupKind) bool {
	_, ok := f.known[gk]
	return ok || f.in.Cluster.FindKind(gk) != nil
}

// isInferencePool reports whether objects of a kind are pools of the Gateway API's extension for inference, which exist to be backends.
func isInferencePool(gk model.GroupKind) bool {
	return gk.Kind == "InferencePool" && (gk.Group == "inference.networking.k8s.io" || gk.Group == "inference.networking.x-k8s.io")
}

// BackendRef is one backendRef of a rule as a request meets it.
type BackendRef struct {
	Ref     model.Ref // of the backend; its Section is the name of the Service's or ServiceImport's port, else the port's number
	Port    int32     // 0: not given
	Weight  int       // 1 unless it is written
	Reason  string    // why nothing can be sent there: InvalidKind, RefNotPermitted or BackendNotFound (gatewayapi G34); "": it can
	Message string    // a plain sentence for Reason, or for what is not known
	Unknown bool      // the input does not tell whether it can be used: it may not be read, or is a route that another delegates to
	Assumed bool      // it is not in the input and assumed to exist (G36)
	Foreign bool      // of an InvalidKind: manifests do not define the kind, and an implementation may have it
}

// BackendRefs lists the backendRefs of a rule in document order, judged like the ResolvedRefs
// condition of its route, and a port that a Service does not have beside. A reference that cannot
// be read is left out. It is computed when asked for.
func (g *Graph) BackendRefs(rule NodeID) []BackendRef {
	n := &g.nodes[rule]
	if n.Role != Rule || n.Object == nil {
		return nil
	}
	all := g.Attachments(g.byObject[n.Object])
	from := referrer{n.Ref.GroupKind(), n.Ref.Namespace, isMeshBound(g, n.Object), isJudged(all)}
	var r manifestReader // its problems were reported when the graph was built
	spec := r.readSpec(n.Object)
	var out []BackendRef
	at := spec.at.atField("rules").atEntry(n.Index).atField("backendRefs")
	for i, v := range n.Object.Body.At("spec", "rules", formatInt(n.Index), "backendRefs").Items {
		f := r.readEntry(v, at.atEntry(i))
		if to, ok := f.readBackendRef(); ok {
			if from.judged {
				to.ref = withCoreGroup(to.ref, g.coreGroupNames)
			}
			out = append(out, g.resolveBackendRef(from, to, readWeight(f.body.Field("weight"))))
		}
	}
	return out
}

func (g *Graph) resolveBackendRef(from referrer, to backendRef, weight int) BackendRef {
	out := BackendRef{Ref: to.ref, Port: to.port, Weight: weight}
	if isRoute(to.ref.GroupKind()) {
		out.Unknown, out.Message = true, "delegation to kind "+to.ref.Kind+" is not evaluated"
		return out
	}
	o := g.in.Get(to.ref)
	v := g.judgeBackend(from, to.ref, o != nil)
	out.Reason, out.Assumed, out.Foreign = v.reason, v.assumed, v.foreign
	if to.port != 0 {
		out.Ref.Section = formatInt(int(to.port))
	}
	switch {
	case v.reason != "":
		out.Message = to.ref.String() + ", " + v.why
		return out
	case v.open != "":
		out.Unknown, out.Message = true, v.open
	}
	if gk := to.ref.GroupKind(); o != nil && to.port != 0 && hasPortList(gk) {
		if p := findServicePort(o, "", to.port, from.kind == udpRouteKind); p != nil {
			out.Ref.Section = p.section
		} else if gk == serviceKind {
			out.Reason, out.Message = "BackendNotFound", to.ref.String()+" has no port "+formatInt(int(to.port))
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
	all := g.Attachments(g.byObject[route])
	return len(all) > 0 && !slices.ContainsFunc(all, func(a Attachment) bool { return a.Verdict == nil && !IsMeshParent(a.Parent.GroupKind()) })
}
