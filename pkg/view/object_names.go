package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// FilterNames are the targets of the answer, as kubectl names objects (kind.group/name), each once.
func (l *EffectivePolicyList) FilterNames() []string {
	return uniqueObjectNames(l.Items, func(i *EffectivePolicy) *model.Ref { return &i.Target })
}

// FilterNames are the targets of the answer, each once.
func (l *Explanation) FilterNames() []string {
	return uniqueObjectNames(l.Items, func(i *ExplainedPolicy) *model.Ref { return &i.Target })
}

// FilterNames are the targets where the policy is in force, wholly or partly, each once.
func (r *PolicyReach) FilterNames() []string {
	return uniqueObjectNames(r.Items, func(i *ReachItem) *model.Ref {
		if !i.isInForce() {
			return nil
		}
		return &i.Target
	})
}

// FilterNames are the policies that lost something, each once.
func (l *OverriddenRuleList) FilterNames() []string {
	return uniqueObjectNames(l.Items, func(i *OverriddenRule) *model.Ref { return i.Source.Policy })
}

// FilterNames are the kinds, as kubectl names resources (plural.group).
func (l *KindList) FilterNames() []string {
	out := make([]string, len(l.Items))
	for i := range l.Items {
		kind := model.ParseGroupKind(l.Items[i].Kind)
		if kind.Kind = l.Items[i].Plural; kind.Kind == "" {
			kind.Kind = strings.ToLower(model.ParseGroupKind(l.Items[i].Kind).Kind)
		}
		out[i] = kind.String()
	}
	return out
}

// FilterNames are the objects and policies of the graph, each once; of a node that stands for several, these.
func (t *Topology) FilterNames() []string {
	var refs []model.Ref
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.CollectiveName() == "" {
			refs = append(refs, n.Ref)
		} else {
			refs = append(refs, n.Members...)
		}
	}
	return uniqueObjectNames(refs, func(r *model.Ref) *model.Ref { return r })
}

// FilterNames are the route that takes the request, if one does.
func (a *RequestAnswer) FilterNames() []string {
	return uniqueObjectNames([]RequestResult{a.RequestResult}, func(r *RequestResult) *model.Ref { return r.Route })
}

// FilterNames are the routes that take the requests, each once.
func (l *RequestAnswerList) FilterNames() []string {
	return uniqueObjectNames(l.Items, func(r *RequestResult) *model.Ref { return r.Route })
}

// uniqueObjectNames writes one name per object, sorted for reading. A section counts as its object.
func uniqueObjectNames[T any](items []T, ref func(*T) *model.Ref) []string {
	refs := make([]model.Ref, 0, len(items))
	for i := range items {
		if r := ref(&items[i]); r != nil {
			refs = append(refs, r.WithoutSection())
		}
	}
	slices.SortFunc(refs, compareTargets)
	refs = slices.Compact(refs)
	out := make([]string, len(refs))
	for i, r := range refs {
		r.Kind = strings.ToLower(r.Kind)
		out[i] = r.GroupKind().String() + "/" + r.Name
	}
	return out
}
