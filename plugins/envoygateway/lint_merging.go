package envoygateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var (
	mergeWithoutParent = model.Rule{ID: "MergeWithoutParent", Severities: []model.Severity{model.Info},
		Summary: "a policy asks to be merged with one above its route, and there is none",
		Fix:     "nothing, if such a policy is to come or is in other files"}
	mergeSkipsRoute = model.Rule{ID: "MergeSkipsRoute", Severities: []model.Severity{model.Warning},
		Summary: "a policy on a route rule is merged with one above the route, not with that of its route, of which nothing is in force at the rule",
		Fix:     "write what is needed of the route's policy into that of the rule"}
)

// findMergeProblems reports what a mergeType does not do: there is nothing above the route to merge
// with; or the policy is on a rule, and that of its route is left out.
func findMergeProblems(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range r.Kinds {
		if k.GroupKind.Group != "gateway.envoyproxy.io" || k.Scope != nil || len(k.Policies) == 0 || k.Targets == nil {
			continue
		}
		k.FoldAll()
		asks, parents, skips := map[*policy.Policy]bool{}, map[*policy.Policy]bool{},
			map[*policy.Policy]map[*policy.Policy]bool{}
		k.EachStackInForce(func(s resolve.StackID) {
			child, route, parent := findMergeParties(r, k.Verdict(s))
			if child == nil {
				return
			}
			asks[child] = true
			parents[child] = parents[child] || parent
			if route != nil {
				if skips[child] == nil {
					skips[child] = map[*policy.Policy]bool{}
				}
				skips[child][route] = true
			}
		})
		for _, p := range k.Policies {
			if !asks[p] || len(k.Gaps().Of(p)) > 0 {
				continue
			}
			if !parents[p] && !isParentUnknown(r, k, p) {
				out = append(out,
					mergeWithoutParent.NewProblem(
						"%s has a mergeType, and there is no %s above its route to merge with: it holds alone",
						p.Ref(), k.GroupKind.Kind).At(p.Object, "spec", "mergeType"))
			}
			for _, q := range k.Policies {
				if skips[p][q] {
					out = append(out,
						mergeSkipsRoute.NewProblem(
							"%s is on a rule: it is merged with what is above the route, and nothing of %s on the route itself is in force at the rule",
							p.Ref(), q.Ref()).At(p.Object, "spec", "mergeType"))
				}
			}
		}
	}
	return out
}

// findMergeParties is the policy of a stack that asks to be merged, nil if the deciding one does
// not; that of its route, if it is on a rule and the other one has settings; and whether there is
// one above the route.
func findMergeParties(r *resolve.Resolution, o *resolve.Verdict) (child, route *policy.Policy, parent bool) {
	last := -1
	for i, l := range o.Layers {
		switch kind := r.Node(l.Node).Ref.Kind; {
		case l.Rejected:
		case l.Level != topology.Route && l.Level != topology.Rule:
			parent = true
		case kind == "HTTPRoute" || kind == "GRPCRoute": // connections are not merged
			last = i
		}
	}
	if last < 0 || o.Layers[last].Policy.Object.Text("spec", "mergeType") == "" {
		return nil, nil, false
	}
	for _, l := range o.Layers {
		if o.Layers[last].Level == topology.Rule && l.Level == topology.Route && !l.Rejected && hasSettings(l.Policy) {
			route = l.Policy
		}
	}
	return o.Layers[last].Policy, route, parent
}

// hasSettings reports whether a policy has settings.
func hasSettings(p *policy.Policy) bool {
	for _, b := range p.Blocks {
		for _, u := range b.Units {
			if len(u.Path) > 0 && u.Path.String() != "mergeType" {
				return true
			}
		}
	}
	return false
}

// isParentUnknown reports whether a Gateway that the policy's routes name is not in the input, and
// with it perhaps its policies.
func isParentUnknown(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy) bool {
	return slices.ContainsFunc(k.TargetsOf(p), func(id topology.NodeID) bool {
		for _, route := range r.Graph.Lookup(r.Node(id).Ref.WithoutSection()) {
			if slices.ContainsFunc(r.Graph.Attachments(route), func(a topology.Attachment) bool {
				return a.Missing ||
					a.State == topology.Unknown
			}) {
				return true
			}
		}
		return false
	})
}
