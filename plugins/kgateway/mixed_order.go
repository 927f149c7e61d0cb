package kgateway

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// orderedPolicy is a policy as kgateway orders all policies of a target, whatever their kinds.
type orderedPolicy struct {
	ref     model.Ref
	weight  int
	created time.Time
}

// compare is kgateway's order: weights count among policies of one kind alone, all others are
// compared by age and then by name.
func (p orderedPolicy) compare(o orderedPolicy) int {
	if p.ref.GroupKind() == o.ref.GroupKind() && p.weight != o.weight {
		return cmp.Compare(o.weight, p.weight)
	}
	return cmp.Or(p.created.Compare(o.created), cmp.Compare(p.identity(), o.identity()))
}

func (p orderedPolicy) identity() string {
	return strings.Join([]string{p.ref.Group, p.ref.Kind, p.ref.Namespace, p.ref.Name}, "/")
}

// checkMixedOrder finds policies whose order among each other kgateway does not keep: a
// TrafficPolicy with less weight is before a policy of another kind for the same target, and that
// one is before a TrafficPolicy with more weight. Then the order is no order, and depends on how the
// sort comes by the policies.
func checkMixedOrder(k *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	others, weighted := map[model.Ref][]orderedPolicy{}, map[model.Ref][]orderedPolicy{}
	if len(in.OfKind(trafficKind)) > 1 {
		others, weighted = listByTarget(in, "ListenerPolicy", "HTTPListenerPolicy"), listByTarget(in, trafficKind.Kind)
	}
	return func(p *policy.Policy, at []topology.NodeID) (string, []model.Problem) {
		for _, id := range at {
			target := g.Node(id).Ref
			first, last, between, found := findCircle(weighted[target], others[target])
			switch {
			case !found, k.GroupKind != trafficKind && len(others[target]) < 2:
				continue
			case k.GroupKind == trafficKind && !slices.ContainsFunc(weighted[target], func(o orderedPolicy) bool {
				return o.ref == p.Ref()
			}):
				continue
			}
			return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
				Message: fmt.Sprintf("%s has more weight than %s, but kgateway sorts them together with %s, which comes after the one and before the other: in which order the policies of %s are merged is not certain",
					first.ref, last.ref, between.ref, target),
				Hint: "give them the same weight, or create the one with more weight first"}.At(p.Object)}
		}
		return "", nil
	}
}

// findCircle finds two policies of different weights, and one of another kind that comes after the
// one with less weight and before the one with more.
func findCircle(weighted, others []orderedPolicy) (first, last, between orderedPolicy, found bool) {
	for _, a := range weighted {
		for _, b := range weighted {
			if a.weight <= b.weight {
				continue
			}
			for _, x := range others {
				if b.compare(x) < 0 && x.compare(a) < 0 {
					return a, b, x, true
				}
			}
		}
	}
	return first, last, between, false
}

func newOrdered(o *model.Object) orderedPolicy {
	weight, _ := strconv.Atoi(o.Body.At("metadata", "annotations").Text("kgateway.dev/policy-weight"))
	return orderedPolicy{ref: o.Ref, weight: weight, created: o.Created}
}

// listByTarget lists the policies of some kinds by what they name or select in their namespace.
func listByTarget(in *model.Snapshot, kinds ...string) map[model.Ref][]orderedPolicy {
	out := map[model.Ref][]orderedPolicy{}
	for _, kind := range kinds {
		for _, o := range in.OfKind(model.GroupKind{Group: group, Kind: kind}) {
			for _, ref := range o.Body.At("spec", "targetRefs").Items {
				to := model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: o.Ref.Namespace,
					Name: ref.Text("name"), Section: ref.Text("sectionName")}
				out[to] = append(out[to], newOrdered(o))
			}
			for _, s := range o.Body.At("spec", "targetSelectors").Items {
				for _, t := range in.OfKind(model.GroupKind{Group: s.Text("group"), Kind: s.Text("kind")}) {
					if t.Ref.Namespace == o.Ref.Namespace && isSelectedBy(t, s.Field("matchLabels")) {
						to := t.Ref.WithSection(s.Text("sectionName"))
						out[to] = append(out[to], newOrdered(o))
					}
				}
			}
		}
	}
	return out
}

// isSelectedBy reports whether an object has labels, and all of those that are asked for.
func isSelectedBy(o *model.Object, want model.Body) bool {
	if len(o.Labels) == 0 {
		return false
	}
	for key, value := range want.Fields {
		if o.Labels[key] != value.Text() {
			return false
		}
	}
	return true
}
