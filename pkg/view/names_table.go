package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Names are the targets of the answer, as kubectl names objects (kind.group/name), each once.
func (l *EffectivePolicyList) Names() []string {
	return namesOf(l.Items, func(i *EffectivePolicy) *model.Ref { return &i.Target })
}

// Names are the targets of the answer, each once.
func (l *Explanation) Names() []string {
	return namesOf(l.Items, func(i *ExplainedPolicy) *model.Ref { return &i.Target })
}

// Names are the targets where the policy is in force, wholly or partly, each once.
func (r *PolicyReach) Names() []string {
	return namesOf(r.Items, func(i *ReachItem) *model.Ref {
		if !i.inForce() {
			return nil
		}
		return &i.Target
	})
}

// Names are the policies that lost something, each once.
func (l *OverriddenRuleList) Names() []string {
	return namesOf(l.Items, func(i *OverriddenRule) *model.Ref { return i.Source.Policy })
}

// Names are the kinds, as kubectl names resources (plural.group).
func (l *KindList) Names() []string {
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

// Names are the objects and policies of the graph, each once; of a node that stands for several, these.
func (t *Topology) Names() []string {
	var refs []model.Ref
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Collective() == "" {
			refs = append(refs, n.Ref)
		} else {
			refs = append(refs, n.Members...)
		}
	}
	return namesOf(refs, func(r *model.Ref) *model.Ref { return r })
}

// Names are the route that takes the request, if one does.
func (a *RequestAnswer) Names() []string {
	return namesOf([]RequestResult{a.RequestResult}, func(r *RequestResult) *model.Ref { return r.Route })
}

// Names are the routes that take the requests, each once.
func (l *RequestAnswerList) Names() []string {
	return namesOf(l.Items, func(r *RequestResult) *model.Ref { return r.Route })
}

// namesOf writes one name per object, sorted for reading; sections are parts of their object.
func namesOf[T any](items []T, ref func(*T) *model.Ref) []string {
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
