package reference

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Referrer is what matters of the route that refers.
type Referrer struct {
	Kind      model.GroupKind
	Namespace string
	Mesh      bool // all its parents are Services: its backends need no grant (gatewayapi G33)
	Judged    bool // an implementation without Gateways decided about its parents
}

// Judgement is what became of a reference to a backend.
type Judgement struct {
	Reason    string // of the route's ResolvedRefs condition, where the backend cannot be used
	Code      model.Code
	Why, Hint string // why ends a sentence that names the backend
	Open      string // what was not read that could forbid it; the backend is taken to be good
	Assumed   bool   // the backend is not in the input and assumed to exist
	Foreign   bool   // manifests do not define its kind, and an implementation may have it
}

// JudgeBackend judges a reference to a backend, which is in the input or not: its kind, then the
// grant, then whether it exists (gatewayapi G34).
func (f *Judge) JudgeBackend(from Referrer, to model.Ref, exists bool) Judgement {
	gk := to.GroupKind()
	switch {
	case !canBeBackend(gk):
		return Judgement{Reason: string(gatewayv1.RouteReasonInvalidKind), Code: model.BackendNotFound,
			Why:  "which cannot be a backend",
			Hint: `the standard backend is kind Service of group ""`}
	case !f.IsKnownKind(gk) && !isInferencePool(gk):
		return Judgement{Reason: string(gatewayv1.RouteReasonInvalidKind), Code: model.BackendNotFound,
			Why: "and kind " + gk.String() + " is nowhere defined", Foreign: f.in.Cluster == nil,
			Hint: "if the implementation has that kind, add its CRD or an object of it"}
	}
	var v Judgement
	if !from.Mesh && !f.grants.Allow(from.Kind, from.Namespace, to) {
		if !f.coverage.IsWithheld(gatewayapi.GrantKind, to.Namespace) {
			return Judgement{Reason: string(gatewayv1.RouteReasonRefNotPermitted), Code: model.RefNotPermitted,
				Why:  "and no ReferenceGrant permits that",
				Hint: GrantHint(from.Kind, from.Namespace, to)}
		}
		v.Open = "the ReferenceGrants in namespace " + to.Namespace + " may not be read"
	}
	switch {
	case exists:
	case model.HasVariable(to.Name) || model.HasVariable(to.Namespace):
		v.Assumed = true
		if v.Open == "" {
			v.Open = "an unrendered variable: what " + to.String() + " would be is not known"
		}
	case f.IsComplete(to):
		return Judgement{Reason: string(gatewayv1.RouteReasonBackendNotFound), Code: model.BackendNotFound,
			Why: f.explainMissing(to)}
	default:
		v.Assumed = true
		if v.Open == "" && f.coverage.IsWithheld(gk, to.Namespace) {
			v.Open = to.String() + " may not be read"
		}
	}
	return v
}

// explainMissing says why a backend is not there.
func (f *Judge) explainMissing(to model.Ref) string {
	if f.coverage.IsRefused(to) {
		return "which the API server refuses"
	}
	return "which does not exist"
}

// IsComplete reports whether everything of ref's kind in its namespace is in the input (gatewayapi
// G36).
func (f *Judge) IsComplete(ref model.Ref) bool {
	if f.coverage.IsRefused(ref) {
		return true
	}
	switch gk := ref.GroupKind(); gk {
	case gatewayapi.ServiceKind, gatewayapi.XBackendKind:
		return f.coverage.hasAllBackends(gk, ref.Namespace)
	case gatewayapi.ServiceImportKind: // made by a controller, and seldom in manifests
		return f.coverage.cluster.HasReadAll(gk, ref.Namespace)
	}
	return false
}

// IsAssumed reports whether an object that is not in the input is assumed to exist where something
// refers to it: a GatewayClass, or a backend, unless everything of its kind in its namespace is in
// the input (gatewayapi G36).
func (f *Judge) IsAssumed(ref model.Ref) bool {
	switch gk := ref.GroupKind(); {
	case gk == gatewayapi.GatewayClassKind:
		return !f.coverage.cluster.HasReadAll(gk, "")
	case !canBeBackend(gk), !f.IsKnownKind(gk) && !isInferencePool(gk):
		return false
	}
	return !f.IsComplete(ref.WithoutSection())
}

// canBeBackend reports whether objects of the kind can be backends: in the groups whose kinds are
// all known only those that are.
func canBeBackend(gk model.GroupKind) bool {
	switch gk.Group {
	case gatewayapi.CoreGroup, gatewayapi.GatewayGroup, gatewayapi.ExperimentalGroup:
		return gk == gatewayapi.ServiceKind || gk == gatewayapi.XBackendKind
	}
	return true
}

// isInferencePool reports whether objects of a kind are pools of the Gateway API's extension for
// inference, which exist to be backends.
func isInferencePool(gk model.GroupKind) bool {
	return gk.Kind == "InferencePool" && (gk.Group == "inference.networking.k8s.io" ||
		gk.Group == "inference.networking.x-k8s.io")
}
