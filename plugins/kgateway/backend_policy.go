package kgateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

var (
	directKind     = model.GroupKind{Group: group, Kind: "DirectResponse"}
	backendKind    = model.GroupKind{Group: group, Kind: "BackendConfigPolicy"}
	backendTLSKind = model.GroupKind{Group: "gateway.networking.k8s.io", Kind: "BackendTLSPolicy"}
)

// checkBackendPolicy finds what puts a BackendConfigPolicy in error.
func checkBackendPolicy(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	c := policyCheck{policy: p, in: in, mode: p.Kind.Settings.Text("kgateway.referenceGrantMode")}
	if ref := p.Object.Body.At("spec", "tls", "secretRef"); !ref.IsNull() {
		c.checkSecret(ref, backendKind, p.Object.Ref.Namespace, "spec", "tls", "secretRef")
	}
	c.checkBackendTLS()
	return strings.Join(c.faults, "; "), c.problems
}

// checkBackendTLS tells where a BackendTLSPolicy, valid or not, keeps spec.tls out of force.
func (c *policyCheck) checkBackendTLS() {
	own := c.policy.Object
	if own.Body.At("spec", "tls").IsNull() {
		return
	}
	for _, o := range c.in.OfKind(backendTLSKind) {
		for _, v := range o.Body.At("spec", "targetRefs").Items {
			to := readRef(v, model.GroupKind{Group: v.Text("group"), Kind: v.Text("kind")}, o.Ref.Namespace)
			if o.Ref.Namespace == own.Ref.Namespace && c.isTargeting(to) {
				c.addProblem(model.Warning,
					fmt.Sprintf("spec.tls is not in force at %s, though it is shown: %s has the TLS settings there",
						to, o.Ref), "", "spec", "tls")
			}
		}
	}
}

// isTargeting reports whether the policy targets an object of its namespace.
func (c *policyCheck) isTargeting(to model.Ref) bool {
	spec := c.policy.Object.Body.Field("spec")
	same := func(v model.Body) bool { return v.Text("group") == to.Group && v.Text("kind") == to.Kind }
	for _, v := range spec.Field("targetRefs").Items {
		if same(v) && v.Text("name") == to.Name {
			return true
		}
	}
	o := c.in.Get(to)
	for _, v := range spec.Field("targetSelectors").Items {
		labels := map[string]string{}
		for key, value := range v.Field("matchLabels").Fields {
			labels[key] = value.Text()
		}
		if same(v) && o != nil && len(o.Labels) > 0 && hasLabels(o, labels) {
			return true
		}
	}
	return false
}

// backendAncestors writes Accepted and Attached towards every backend that a BackendConfigPolicy
// targets, and Overridden where a BackendTLSPolicy has the backend's TLS settings.
func backendAncestors(in status.Input) []status.Ancestor {
	r, p := in.Resolution, in.Outcome.Policy
	var out []status.Ancestor
	for _, id := range in.Outcome.Targets {
		ref := r.Node(id).Ref
		e := ancestorState{state: unmerged}
		a := status.Ancestor{Ref: &ref, Controller: controller, Conditions: []status.Condition{acceptedCondition(p),
			e.attachedCondition(p)}}
		if by := findBackendTLSPolicy(r, ref); by != nil && !p.Object.Body.At("spec", "tls").IsNull() && p.Fault == "" {
			a.Conditions = append(a.Conditions, status.Condition{Type: "Overridden", Status: "True",
				Reason:  "ConflictedWithBackendTLSPolicy",
				Message: "spec.tls overridden by BackendTLSPolicy " + by.FullName()})
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b status.Ancestor) int { return a.Ref.Compare(*b.Ref) })
	return out[:min(len(out), status.MaxAncestors)]
}

// findBackendTLSPolicy is the first BackendTLSPolicy at a backend or one of its ports that is not
// in error.
func findBackendTLSPolicy(r *resolve.Resolution, backend model.Ref) *model.Ref {
	k := r.Kind(backendTLSKind)
	if k == nil {
		return nil
	}
	sections := append([]string{""}, r.Graph.Sections(backend)...)
	for _, s := range sections {
		for _, id := range r.Graph.Lookup(backend.WithSection(s)) {
			for _, p := range k.PoliciesAt(id) {
				if hasTrustAnchor(r, p) {
					ref := p.Ref()
					return &ref
				}
			}
		}
	}
	return nil
}

// hasTrustAnchor reports whether a BackendTLSPolicy says by which certificates it knows backends:
// the first one counts.
func hasTrustAnchor(r *resolve.Resolution, p *policy.Policy) bool {
	validation := p.Object.Body.At("spec", "validation")
	if validation.Text("wellKnownCACertificates") == "System" {
		return true
	}
	for _, v := range validation.Field("caCertificateRefs").Items {
		flaw, _ := r.Graph.CheckAuthority(readRef(v, model.GroupKind{Group: v.Text("group"), Kind: v.Text("kind")},
			p.Object.Ref.Namespace))
		return flaw == reference.NoFlaw || flaw == reference.WithheldCertificate
	}
	return false
}
