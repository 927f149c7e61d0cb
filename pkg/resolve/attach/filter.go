package attach

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var httpRoute = model.GroupKind{Group: gatewayv1.GroupName, Kind: "HTTPRoute"}

// attachByFilters attaches the policies that filters of route rules name (engine E13), each at its
// rule, below the policies that target the rule and in the order of the filters. A policy that a
// filter of a backendRef names is for that backend alone, which no answer tells apart.
func (k *attacher) attachByFilters() {
	if k.Filters == nil || len(k.Policies) == 0 {
		return
	}
	byRef := make(map[model.Ref]*policy.Policy, len(k.Policies))
	for _, p := range k.Policies {
		byRef[p.Ref()] = p
	}
	g := k.res.Graph
	judged := map[*policy.Policy]bool{}
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Rule || n.Object == nil {
			continue
		}
		rule := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
		if !slices.Contains(k.FilterRoutes, n.Ref.Kind) {
			k.reportIgnoredFilters(id, rule, byRef)
			continue
		}
		if slices.Contains(k.Filters, topology.Rule) {
			for _, e := range extensionRefs(rule, k.GroupKind, n.Ref.Namespace) {
				if p := byRef[e.ref]; p != nil && !p.Refused && k.SeesNamespace(p.Ref().Namespace) {
					k.judgeOnce(p, judged)
					k.attachByFilter(p, id, e.filter)
				}
			}
		}
		if !slices.Contains(k.Filters, topology.Backend) {
			continue
		}
		for _, to := range rule.Field("backendRefs").Items {
			for _, e := range extensionRefs(to, k.GroupKind, n.Ref.Namespace) {
				if p := byRef[e.ref]; p != nil && !p.Refused && k.SeesNamespace(p.Ref().Namespace) {
					k.judgeOnce(p, judged)
					k.reportBackendFilter(p, id, to.Text("name"))
				}
			}
		}
	}
}

// reportIgnoredFilters says that the filters of a rule of another kind of route name no policies.
func (k *attacher) reportIgnoredFilters(id topology.NodeID, rule model.Body, byRef map[model.Ref]*policy.Policy) {
	n := k.res.Node(id)
	all := []model.Body{rule}
	for _, to := range rule.Field("backendRefs").Items {
		all = append(all, to)
	}
	for _, of := range all {
		for _, e := range extensionRefs(of, k.GroupKind, n.Ref.Namespace) {
			if p := byRef[e.ref]; p != nil && n.Hop == 0 {
				k.res.Problems = append(k.res.Problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
					Message: fmt.Sprintf(
						"a filter in %s names %s: only those of %ss attach policies", n.Ref, p.Ref(), strings.Join(
							k.FilterRoutes, "s and "))}.At(p.Object))
			}
		}
	}
}

// judgeOnce judges a policy that no reference of its own has attached.
func (k *attacher) judgeOnce(p *policy.Policy, judged map[*policy.Policy]bool) {
	if !judged[p] && len(k.NodesOf(p)) == 0 {
		k.judgePolicy(p)
	}
	judged[p] = true
}

// attachByFilter attaches a policy to a rule by the i-th filter.
func (k *attacher) attachByFilter(p *policy.Policy, rule topology.NodeID, i int) {
	to := k.TargetListOf(p)
	to.Nodes = append(to.Nodes, rule)
	to.SortNodes()
	if p.Fault != "" && k.InError == policy.DropPolicy {
		return
	}
	at := k.Table[rule]
	if slices.ContainsFunc(at.Policies, func(a policy.Attached) bool {
		return a.Policy == p &&
			a.Level == policy.FilterLevel
	}) {
		return
	}
	at.Policies = append(slices.Clip(at.Policies), policy.Attached{Policy: p, Node: rule, Ref: -1, Index: i,
		Level: policy.FilterLevel})
	k.Table[rule] = at
}

// reportBackendFilter says that what a policy does for one backend is not evaluated.
func (k *attacher) reportBackendFilter(p *policy.Policy, rule topology.NodeID, backend string) {
	if k.backendRules == nil {
		k.backendRules = map[*policy.Policy][]topology.NodeID{}
	}
	k.backendRules[p] = append(k.backendRules[p], rule)
	if k.res.Node(rule).Hop > 0 { // reported for the rule itself
		return
	}
	problem := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
		"a filter of the backendRef to %s in %s names %s: what it changes for that backend is not evaluated", backend,
		k.res.Node(rule).Ref, p.Ref())}.At(p.Object)
	k.res.Problems = append(k.res.Problems, problem)
}

// ReportUnreferenced reports the policies that have no target reference, so that a filter would
// have to name them, and none does.
func ReportUnreferenced(to *Targets, kind *policy.Kind, at *Attachments) []model.Problem {
	k := attacher{Kind: kind, Attachments: at, res: to}
	if k.Filters == nil {
		return nil
	}
	var out []model.Problem
	for _, p := range k.Policies {
		ns := p.Ref().Namespace
		if p.Kind.Filters == nil || len(p.Refs) > 0 || len(k.NodesOf(p)) > 0 || len(k.backendRules[p]) > 0 ||
			p.Refused || p.NamedApart || !k.SeesNamespace(ns) || k.res.Snapshot.IsUnread(httpRoute, ns) {
			continue
		}
		// which says what is wrong with its references
		if slices.ContainsFunc(p.Problems, func(f model.Problem) bool { return f.Severity != model.Info }) {
			continue
		}
		out = append(out, model.Problem{Severity: model.Info, Code: model.NotReached, Message: fmt.Sprintf(
			"no filter of an HTTPRoute in namespace %s names %s, and it has no target reference: it is in force nowhere", ns, p.Ref())}.At(p.Object))
	}
	return out
}

// filterRef is an object that the filter at a position names.
type filterRef struct {
	filter int
	ref    model.Ref
}

// extensionRefs lists what the ExtensionRef filters of a rule or a backendRef name of one kind.
// Filters name objects of the route's own namespace.
func extensionRefs(of model.Body, gk model.GroupKind, namespace string) []filterRef {
	var out []filterRef
	for i, f := range of.Field("filters").Items {
		ref := f.Field("extensionRef")
		if f.Text("type") == "ExtensionRef" && ref.Text("group") == gk.Group && ref.Text("kind") == gk.Kind {
			out = append(out, filterRef{i, model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: namespace,
				Name: ref.Text("name")}})
		}
	}
	return out
}

// markVoids notes where nothing of the kind is in force, whatever is attached.
func (k *attacher) markVoids() {
	if len(k.Voids) == 0 || len(k.Policies) == 0 {
		return
	}
	g := k.res.Graph
	for _, id := range g.Order(k.Family) {
		for _, void := range k.Voids {
			problem := void(g, id)
			if problem == nil {
				continue
			}
			k.res.Problems = append(k.res.Problems, *problem)
			at := k.Table[id]
			at.Void = problem.Message
			k.Table[id] = at
			break
		}
	}
}
