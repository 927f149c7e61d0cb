package kgateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

var (
	directKind     = model.GroupKind{Group: group, Kind: "DirectResponse"}
	backendKind    = model.GroupKind{Group: group, Kind: "BackendConfigPolicy"}
	backendTLSKind = model.GroupKind{Group: "gateway.networking.k8s.io", Kind: "BackendTLSPolicy"}
)

// judgeBackend finds what puts a BackendConfigPolicy in error.
func judgeBackend(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	c := check{policy: p, in: in, mode: p.Kind.Settings().Text("kgateway.referenceGrantMode")}
	if ref := p.Object.Body.At("spec", "tls", "secretRef"); !ref.IsNull() {
		c.secret(ref, backendKind, p.Object.Ref.Namespace, "spec", "tls", "secretRef")
	}
	return strings.Join(c.faults, "; "), c.problems
}

// backends writes Accepted and Attached towards every backend that a BackendConfigPolicy targets, and Overridden where a BackendTLSPolicy
// has the backend's TLS settings.
func backends(in status.Input) []status.Ancestor {
	r, p := in.Resolution, in.Fate.Policy
	var out []status.Ancestor
	for _, id := range in.Fate.Targets {
		ref := r.Node(id).Ref
		e := entry{state: whole}
		a := status.Ancestor{Ref: &ref, Controller: controller, Conditions: []status.Condition{accepted(p), e.condition(p)}}
		if by := tlsPolicy(r, ref); by != nil && !p.Object.Body.At("spec", "tls").IsNull() && p.Fault == "" {
			a.Conditions = append(a.Conditions, status.Condition{Type: "Overridden", Status: "True", Reason: "ConflictedWithBackendTLSPolicy",
				Message: "spec.tls overridden by BackendTLSPolicy " + by.FullName()})
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	return out[:min(len(out), status.MaxAncestors)]
}

// tlsPolicy is the first BackendTLSPolicy at a backend or one of its ports.
func tlsPolicy(r *resolve.Resolution, backend model.Ref) *model.Ref {
	k := r.Kind(backendTLSKind)
	if k == nil {
		return nil
	}
	sections := append([]string{""}, r.Graph.Sections(backend)...)
	for _, s := range sections {
		for _, id := range r.Graph.Lookup(backend.In(s)) {
			if at := k.At(id); len(at) > 0 {
				ref := at[0].Ref()
				return &ref
			}
		}
	}
	return nil
}
