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
)

// optOut takes a policy of the Gateway API out of Istio's hands.
const optOut = "istio.io/ignore-policy-attachment"

// optedOut finds policies that are to be left alone.
func optedOut(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	if p.Object.Annotations[optOut] != "true" {
		return "", nil
	}
	return "Ignored by Istio due to annotation " + optOut + "=true", nil
}

// coreConditions is what Istio writes about policies of the Gateway API on backends.
func coreConditions(r *resolve.Resolution, k *resolve.Kind, fates []*status.Fate) map[*policy.Policy][]status.Ancestor {
	routes := routesByBackend(r.Graph)
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		out[f.Policy] = ancestorsOf(status.Input{Resolution: r, Kind: k, Fate: f}, routes)
	}
	return out
}

// ancestorsOf has an entry for each reference of a policy, then one for each Gateway with a route to any of them (spec §13).
func ancestorsOf(in status.Input, routes map[model.Ref][]model.Ref) []status.Ancestor {
	var out []status.Ancestor
	gateways := map[model.Ref]bool{}
	worst := coreCondition(in, nil)
	home := in.Fate.Policy.Ref().Namespace // Istio writes no namespace of ancestors, which then is the policy's to who reads
	for i, t := range in.Fate.Policy.Refs {
		ref := t.Ref
		conditions := coreCondition(in, &coreTarget{ref: ref, found: in.Kind.Attaches(in.Fate.Policy, i), winner: winnerAt(in, ref)})
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
	for _, ref := range sortedRefs(gateways) {
		out = append(out, status.Ancestor{Ref: &ref, Controller: gatewayController, Conditions: worst})
	}
	if len(out) > status.MaxAncestors {
		out = out[:status.MaxAncestors]
	}
	return out
}

// routesByBackend lists the routes that name a backend, whether or not they may.
func routesByBackend(g *topology.Graph) map[model.Ref][]model.Ref {
	out := map[model.Ref][]model.Ref{}
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role != topology.Rule {
			continue
		}
		route := g.Node(id).Ref.WithoutSection()
		for _, b := range g.Backends(id) {
			if to := b.Ref.WithoutSection(); !slices.Contains(out[to], route) {
				out[to] = append(out[to], route)
			}
		}
	}
	return out
}

// coreTarget is one reference of a policy.
type coreTarget struct {
	ref    model.Ref
	found  bool
	winner *model.Ref // another policy that has the place
}

// winnerAt is the policy that keeps this one out of a target.
func winnerAt(in status.Input, ref model.Ref) *model.Ref {
	for _, id := range in.Resolution.Graph.Lookup(ref) {
		if at := in.Kind.At(id); len(at) > 0 && at[0] != in.Fate.Policy && slices.Contains(at, in.Fate.Policy) {
			by := at[0].Ref()
			return &by
		}
	}
	return nil
}

// coreCondition is what is written about one reference; nil: about the policy whatever it refers to.
func coreCondition(in status.Input, t *coreTarget) []status.Condition {
	o := in.Fate.Policy.Object
	accepted := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted", Message: "Configuration is valid"}
	no := func(reason, format string, args ...any) {
		accepted.Status, accepted.Reason, accepted.Message = "False", reason, fmt.Sprintf(format, args...)
	}
	if in.Fate.Policy.Fault != "" {
		no("IgnoredByIstio", "%s", in.Fate.Policy.Fault)
		return []status.Condition{accepted}
	}
	conditions := func() []status.Condition { return []status.Condition{accepted} }
	if o.Ref.Kind == "BackendTLSPolicy" {
		resolved := authorities(in)
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

// authorities judges the certificates that a BackendTLSPolicy names.
func authorities(in status.Input) status.Condition {
	out := status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs", Message: "All references resolved"}
	o := in.Fate.Policy.Object
	for _, v := range o.Body.At("spec", "validation", "caCertificateRefs").Items {
		flaw, what := in.Resolution.Graph.Authority(model.Ref{Group: v.Text("group"), Kind: v.Text("kind"), Namespace: o.Ref.Namespace, Name: v.Text("name")})
		switch flaw {
		case topology.NoFlaw:
		case topology.WithheldCertificate:
			if out.Status == "True" {
				out.Status, out.Reason, out.Message = "Unknown", "NotEvaluated", what
			}
		case topology.WrongCertificateKind:
			out.Status, out.Reason, out.Message = "False", "InvalidKind", what
		default:
			out.Status, out.Reason, out.Message = "False", "InvalidCACertificateRef", what
		}
	}
	return out
}

func sortedRefs(set map[model.Ref]bool) []model.Ref {
	var out []model.Ref
	for ref := range set {
		out = append(out, ref)
	}
	slices.SortFunc(out, model.Ref.Compare)
	return out
}
