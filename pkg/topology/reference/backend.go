package reference

import (
	"cmp"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Referrer is what matters of the route that refers.
type Referrer struct {
	Kind      model.GroupKind
	Namespace string
	// NoGrants: its backends need no grant, as all its parents are Services (gatewayapi G33), or as
	// the implementation knows no grants.
	NoGrants bool
	Judged   bool // an implementation without Gateways decided about its parents
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
	if !from.NoGrants && !f.grants.Allow(from.Kind, from.Namespace, to) {
		if v.Open = f.ExplainUnreadGrants(to.Namespace); v.Open == "" {
			return Judgement{Reason: string(gatewayv1.RouteReasonRefNotPermitted), Code: model.RefNotPermitted,
				Why:  "and no ReferenceGrant permits that",
				Hint: GrantHint(from.Kind, from.Namespace, to)}
		}
	}
	if exists {
		return v
	}
	switch e := f.findBackend(to); e.Presence {
	case model.Missing:
		return Judgement{Reason: string(gatewayv1.RouteReasonBackendNotFound), Code: model.BackendNotFound,
			Why: f.explainMissing(to)}
	case model.NotKnown:
		v.Assumed, v.Open = true, cmp.Or(v.Open, e.Why)
	default:
		v.Assumed = true
	}
	return v
}

// explainMissing says why a backend is not there.
func (f *Judge) explainMissing(to model.Ref) string {
	if f.in.IsRefused(to) {
		return "which the API server refuses"
	}
	return "which does not exist"
}

// findBackend says whether a backend exists that is not in the input (gatewayapi G36).
func (f *Judge) findBackend(ref model.Ref) model.Existence {
	e := f.in.FindExistence(ref)
	switch gk := ref.GroupKind(); {
	case e.Presence != model.Missing, f.in.IsRefused(ref), gk == gatewayapi.ServiceKind, gk == gatewayapi.XBackendKind:
	case gk == gatewayapi.ServiceImportKind && f.in.Cluster != nil: // made by a controller, and seldom in manifests
	default: // a cluster need not have been asked for the kind
		e.Presence = model.NotShown
	}
	return e
}

// IsMissing reports whether a backend is known not to exist (gatewayapi G36).
func (f *Judge) IsMissing(ref model.Ref) bool { return f.findBackend(ref).Presence == model.Missing }

// IsAssumed reports whether an object that is not in the input is assumed to exist where something
// refers to it: a GatewayClass, or a backend, unless everything of its kind in its namespace is in
// the input (gatewayapi G36).
func (f *Judge) IsAssumed(ref model.Ref) bool {
	switch gk := ref.GroupKind(); {
	case gk == gatewayapi.GatewayClassKind:
		return f.in.FindExistence(ref).Presence != model.Missing || f.in.Cluster == nil
	case !canBeBackend(gk), !f.IsKnownKind(gk) && !isInferencePool(gk):
		return false
	}
	return !f.IsMissing(ref)
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
