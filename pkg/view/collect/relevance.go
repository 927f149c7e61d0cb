package collect

import (
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// RelevanceFilter returns a function that tells which problems matter to what the collector looked
// at.
func (a *Collector) RelevanceFilter() func(model.Problem) bool {
	var t *relevanceJudge // made when it is needed: most answers have no problem to judge
	return func(p model.Problem) bool {
		switch {
		case p.IsIncomplete() || p.Ref == nil:
			return true
		case a.isOtherKind(p.Ref.GroupKind()):
			return false
		case a.Query.Targets == nil:
			return !IsOnlyAboutTraffic(a.Resolution, p)
		case p.Severity == model.Info && p.Code != model.NotReached: // shown only in answers about everything
			return true
		}
		if t == nil {
			t = newRelevanceJudge(a)
		}
		return t.isRelevant(p)
	}
}

// isOtherKind reports whether a kind is a policy kind that was not asked about and has no influence
// on those that were.
func (a *Collector) isOtherKind(gk model.GroupKind) bool {
	k := a.Resolution.Kind(gk)
	return k != nil && a.Query.Kinds != nil && !slices.Contains(a.Query.Kinds, gk) &&
		!slices.Contains(a.Query.Kinds, k.ResolvedKind().GroupKind)
}

// IsOnlyAboutTraffic reports whether a problem is about what becomes of traffic and changes nothing
// about the policies in force.
func IsOnlyAboutTraffic(r *resolve.Resolution, p model.Problem) bool {
	switch p.Code {
	case model.BackendNotFound, model.RuleShadowed, model.ListenerWithoutRoutes:
		return true
	case model.RefNotPermitted: // of a route or a Gateway
		return p.Ref != nil && r.Kind(p.Ref.GroupKind()) == nil
	}
	return false
}

// relevanceJudge judges problems by what a collector looked at.
type relevanceJudge struct {
	res             *resolve.Resolution
	asksRequests    bool                     // what becomes of traffic is asked about
	nodes           map[topology.NodeID]bool // what was looked at, and everything above it
	stackedPolicies map[*policy.Policy]bool  // the policies in the stacks there
	policies        map[model.Ref]kindPolicy // every policy of the input
}

// kindPolicy is a policy with its kind.
type kindPolicy struct {
	kind   *resolve.Kind
	policy *policy.Policy
}

func newRelevanceJudge(a *Collector) *relevanceJudge {
	t := &relevanceJudge{res: a.Resolution, asksRequests: a.perRequest, nodes: map[topology.NodeID]bool{},
		stackedPolicies: map[*policy.Policy]bool{}, policies: map[model.Ref]kindPolicy{}}
	for space := range a.visitedNamespaces {
		t.addWithParents(a.Resolution.Lookup(model.Ref{Kind: "Namespace", Name: space}))
	}
	t.addWithParents(a.visitedNodes)
	type stack struct {
		kind *resolve.Kind
		id   resolve.StackID
	}
	seen := map[stack]bool{}
	for _, id := range a.visitedNodes {
		a.EachStackAt(id, func(k *resolve.Kind, _ topology.NodeID, s resolve.StackID, _ []resolve.Path) {
			if seen[stack{k, s}] {
				return
			}
			seen[stack{k, s}] = true
			for _, l := range k.Verdict(s).Layers {
				t.stackedPolicies[l.Policy.Base()] = true
			}
		})
	}
	for _, k := range a.Resolution.Kinds {
		if k.IsLaterScope() {
			continue
		}
		for _, p := range k.Policies {
			t.policies[p.Ref()] = kindPolicy{k, p}
		}
	}
	return t
}

// addWithParents adds nodes with everything above them.
func (t *relevanceJudge) addWithParents(open []topology.NodeID) {
	for open = slices.Clone(open); len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if t.nodes[id] {
			continue
		}
		t.nodes[id] = true
		if int(id) < t.res.Graph.Len() {
			open = append(open, t.res.Graph.Parents(topology.All, id)...)
		}
	}
}

// isRelevant reports whether a problem is that of an object that the answer depends on.
func (t *relevanceJudge) isRelevant(p model.Problem) bool {
	if !t.asksRequests && IsOnlyAboutTraffic(t.res, p) {
		return false
	}
	ref := p.Ref.WithoutSection()
	if at, ok := t.policies[ref]; ok {
		return t.isAtNodes(at) || t.isMeantForNodes(p)
	}
	ids := t.res.Lookup(ref)
	return len(ids) == 0 || t.hasAnyNode(ids)
}

// isAtNodes reports whether a policy is at one of the nodes.
func (t *relevanceJudge) isAtNodes(at kindPolicy) bool {
	if t.stackedPolicies[at.policy] {
		return true
	}
	for _, scope := range t.res.ScopesOf(at.kind) {
		for _, part := range scope.PartsOf(at.policy) {
			if t.hasAnyNode(scope.TargetsOf(part)) {
				return true
			}
		}
	}
	return false
}

// isMeantForNodes reports whether a reference that leads nowhere may be meant for one of the nodes.
func (t *relevanceJudge) isMeantForNodes(p model.Problem) bool {
	return p.SuggestedRef != nil && t.hasAnyNode(t.res.Lookup(*p.SuggestedRef))
}

func (t *relevanceJudge) hasAnyNode(ids []topology.NodeID) bool {
	return slices.ContainsFunc(ids, func(id topology.NodeID) bool { return t.nodes[id] })
}

// FilterByPolicies returns a function that tells which problems matter to an answer about some
// policies, wherever they are.
func FilterByPolicies(of ...*policy.Policy) func(model.Problem) bool {
	return func(p model.Problem) bool {
		return p.IsIncomplete() || p.Ref == nil ||
			slices.ContainsFunc(of, func(x *policy.Policy) bool { return x.Ref() == *p.Ref })
	}
}

// FilterByObjects returns a function that tells which problems matter to an answer about some
// objects, and of all others those for which other is true. The objects are looked up at the first
// call.
func FilterByObjects(find func(add func(model.Ref)), other func(p model.Problem, ref model.Ref) bool) func(
	model.Problem) bool {
	objects := sync.OnceValue(func() map[model.Ref]bool {
		out := map[model.Ref]bool{}
		find(func(ref model.Ref) { out[ref.WithoutSection()] = true })
		return out
	})
	return func(p model.Problem) bool {
		if p.IsIncomplete() || p.Ref == nil {
			return true
		}
		ref := p.Ref.WithoutSection()
		return objects()[ref] || other(p, ref)
	}
}
