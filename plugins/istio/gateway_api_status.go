package istio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// optOutAnnotation takes a policy of the Gateway API out of Istio's hands.
const optOutAnnotation = "istio.io/ignore-policy-attachment"

// checkOptOut finds policies of the Gateway API that Istio ignores because of an annotation.
func checkOptOut(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	if p.Object.Annotations[optOutAnnotation] != "true" {
		return "", nil
	}
	return "Ignored by Istio due to annotation " + optOutAnnotation + "=true", nil
}

// gatewayAPIAncestors is what Istio writes about policies of the Gateway API on backends.
func gatewayAPIAncestors(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	routes := groupRoutesByBackend(r.Graph)
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		out[f.Policy] = listAncestors(status.Input{Resolution: r, Kind: k, Outcome: f}, routes)
	}
	return out
}

// listAncestors has an entry for each reference of a policy, then one for each Gateway with a route
// to any of them.
func listAncestors(in status.Input, routes map[model.Ref][]model.Ref) []status.Ancestor {
	var out []status.Ancestor
	gateways := map[model.Ref]bool{}
	worst := gatewayAPICondition(in, nil)
	// Istio writes no namespace of ancestors, which then is the policy's to who reads
	home := in.Outcome.Policy.Ref().Namespace
	for i, t := range in.Outcome.Policy.Refs {
		ref := t.Ref
		conditions := gatewayAPICondition(in, &targetState{ref: ref, found: in.Kind.HasTarget(in.Outcome.Policy, i),
			winner: findWinner(in, ref)})
		if conditions[0].Status != "True" {
			worst = conditions
		}
		if !slices.ContainsFunc(out, func(a status.Ancestor) bool { return *a.Ref == ref }) {
			out = append(out, status.Ancestor{Ref: &ref, Controller: meshController, Conditions: conditions})
		}
		for _, route := range routes[t.Ref.WithoutSection()] {
			for _, a := range status.GatewaysAbove(in.Resolution, route) {
				if a.Controller == "" || slices.Contains(controllers, a.Controller) {
					gateways[model.Ref{Group: gatewayGroup, Kind: "Gateway", Namespace: home, Name: a.Ref.Name}] = true
				}
			}
		}
	}
	for _, ref := range sortRefs(gateways) {
		out = append(out, status.Ancestor{Ref: &ref, Controller: gatewayController, Conditions: worst})
	}
	if len(out) > status.MaxAncestors {
		out = out[:status.MaxAncestors]
	}
	return out
}

// groupRoutesByBackend lists the routes that name a backend, whether or not they may.
func groupRoutesByBackend(g *topology.Graph) map[model.Ref][]model.Ref {
	out := map[model.Ref][]model.Ref{}
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role != topology.Rule {
			continue
		}
		route := g.Node(id).Ref.WithoutSection()
		for _, b := range g.BackendRefs(id) {
			if to := b.Ref.WithoutSection(); !slices.Contains(out[to], route) {
				out[to] = append(out[to], route)
			}
		}
	}
	return out
}

// targetState is one reference of a policy and what it leads to.
type targetState struct {
	ref    model.Ref
	found  bool
	winner *model.Ref // another policy that has the place
}

// findWinner is the policy that keeps this one out of a target; nil if there is none.
func findWinner(in status.Input, ref model.Ref) *model.Ref {
	for _, id := range in.Resolution.Graph.Lookup(ref) {
		if at := in.Kind.PoliciesAt(id); len(at) > 0 && at[0] != in.Outcome.Policy &&
			slices.Contains(at, in.Outcome.Policy) {
			by := at[0].Ref()
			return &by
		}
	}
	return nil
}

// gatewayAPICondition is what is written about one reference; nil: about the policy whatever it
// refers to.
func gatewayAPICondition(in status.Input, t *targetState) []status.Condition {
	o := in.Outcome.Policy.Object
	accepted := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted",
		Message: "Configuration is valid"}
	no := func(reason, format string, args ...any) {
		accepted.Status, accepted.Reason, accepted.Message = "False", reason, fmt.Sprintf(format, args...)
	}
	if in.Outcome.Policy.Fault != "" {
		no("IgnoredByIstio", "%s", in.Outcome.Policy.Fault)
		return []status.Condition{accepted}
	}
	conditions := func() []status.Condition { return []status.Condition{accepted} }
	if o.Ref.Kind == "BackendTLSPolicy" {
		resolved := certificateCondition(in)
		if resolved.Status == "False" {
			no("NoValidCACertificate", "%s", resolved.Message)
		}
		conditions = func() []status.Condition { return []status.Condition{accepted, resolved} }
	} else if !o.Body.At("spec", "sessionPersistence").IsNull() {
		accepted.Message += ", but Istio does not support the following fields: sessionPersistence"
	}
	switch {
	case t == nil:
	case !t.found:
		no("TargetNotFound", "targetRefs invalid: %s %s not found", strings.ToLower(t.ref.Kind), t.ref.FullName())
	case t.winner != nil && o.Ref.Kind == "BackendTLSPolicy" && accepted.Status == "True":
		no("Conflicted", "Conflicts with %s %s targeting the same backend", o.Ref.Kind, t.winner.FullName())
	}
	return conditions()
}

// certificateCondition judges the certificates that a BackendTLSPolicy names.
func certificateCondition(in status.Input) status.Condition {
	out := status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs",
		Message: "All references resolved"}
	o := in.Outcome.Policy.Object
	for _, v := range o.Body.At("spec", "validation", "caCertificateRefs").Items {
		flaw, what := in.Resolution.Graph.CheckAuthority(model.Ref{Group: v.Text("group"), Kind: v.Text("kind"),
			Namespace: o.Ref.Namespace, Name: v.Text("name")})
		switch flaw {
		case reference.NoFlaw:
		case reference.WithheldCertificate:
			if out.Status == "True" {
				out.Status, out.Reason, out.Message = "Unknown", "NotEvaluated", what
			}
		case reference.WrongCertificateKind:
			out.Status, out.Reason, out.Message = "False", "InvalidKind", what
		default:
			out.Status, out.Reason, out.Message = "False", "InvalidCACertificateRef", what
		}
	}
	return out
}

func sortRefs(set map[model.Ref]bool) []model.Ref {
	var out []model.Ref
	for ref := range set {
		out = append(out, ref)
	}
	slices.SortFunc(out, model.Ref.Compare)
	return out
}
