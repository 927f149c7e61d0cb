package view

import (
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Touching are the problems that touch the answer, in their order: those that could change it, and those of what it depends on. What else is
// wrong with the input is only among Problems.
func (e *Envelope) Touching() []model.Problem {
	if e.touches == nil {
		return e.Problems
	}
	return slices.DeleteFunc(slices.Clone(e.Problems), func(p model.Problem) bool { return !e.touches(p) })
}

// touching tells which problems touch what the collector looked at.
func (a *collector) touching() func(model.Problem) bool {
	var t *toucher // made when it is needed: most answers have no problem to judge
	return func(p model.Problem) bool {
		switch {
		case p.Incomplete() || p.Ref == nil:
			return true
		case a.otherKind(p.Ref.GroupKind()):
			return false
		case a.query.Targets == nil:
			return !besidePolicies(a.res, p)
		case p.Severity == model.Info && p.Code != model.NotReached: // told only where all are
			return true
		}
		if t == nil {
			t = newToucher(a)
		}
		return t.touches(p)
	}
}

// otherKind reports whether a kind is a policy kind that was not asked about, and has no say about those that were.
func (a *collector) otherKind(gk model.GroupKind) bool {
	k := a.res.Kind(gk)
	return k != nil && a.query.Kinds != nil && !slices.Contains(a.query.Kinds, gk) && !slices.Contains(a.query.Kinds, k.Resolved().GroupKind)
}

// besidePolicies reports whether a problem is about what becomes of traffic, and changes nothing about the policies in force.
func besidePolicies(r *resolve.Resolution, p model.Problem) bool {
	switch p.Code {
	case model.BackendNotFound, model.RuleShadowed, model.ListenerWithoutRoutes:
		return true
	case model.RefNotPermitted: // of a route or a Gateway
		return p.Ref != nil && r.Kind(p.Ref.GroupKind()) == nil
	}
	return false
}

// toucher judges problems by what a collector looked at.
type toucher struct {
	res      *resolve.Resolution
	requests bool                     // what becomes of traffic is asked about
	over     map[topology.NodeID]bool // what was looked at, and everything above it
	stacks   map[*policy.Policy]bool  // the policies that meet there
	places   map[model.Ref]placed     // every policy of the input
}

// placed is a policy with its kind.
type placed struct {
	kind   *resolve.Kind
	policy *policy.Policy
}

func newToucher(a *collector) *toucher {
	t := &toucher{res: a.res, requests: a.judged, over: map[topology.NodeID]bool{}, stacks: map[*policy.Policy]bool{}, places: map[model.Ref]placed{}}
	for space := range a.spaces {
		t.addOver(a.res.Lookup(model.Ref{Kind: "Namespace", Name: space}))
	}
	t.addOver(a.looked)
	type stack struct {
		kind *resolve.Kind
		id   resolve.StackID
	}
	seen := map[stack]bool{}
	for _, id := range a.looked {
		a.seeNode(id, func(k *resolve.Kind, _ topology.NodeID, s resolve.StackID, _ []resolve.Path) {
			if seen[stack{k, s}] {
				return
			}
			seen[stack{k, s}] = true
			for _, l := range k.Verdict(s).Layers {
				t.stacks[l.Policy.Base()] = true
			}
		})
	}
	for _, k := range a.res.Kinds {
		if k.Again() {
			continue
		}
		for _, p := range k.Policies {
			t.places[p.Ref()] = placed{k, p}
		}
	}
	return t
}

// addOver adds nodes with everything above them.
func (t *toucher) addOver(open []topology.NodeID) {
	for open = slices.Clone(open); len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if t.over[id] {
			continue
		}
		t.over[id] = true
		if int(id) < t.res.Graph.Len() {
			open = append(open, t.res.Graph.Parents(topology.All, id)...)
		}
	}
}

// touches reports whether a problem is that of an object that the answer depends on.
func (t *toucher) touches(p model.Problem) bool {
	if !t.requests && besidePolicies(t.res, p) {
		return false
	}
	ref := p.Ref.WithoutSection()
	if at, ok := t.places[ref]; ok {
		return t.meets(at) || t.meant(p)
	}
	ids := t.res.Lookup(ref)
	return len(ids) == 0 || t.anyOver(ids)
}

// meets reports whether a policy is at one of the nodes.
func (t *toucher) meets(at placed) bool {
	if t.stacks[at.policy] {
		return true
	}
	for _, scope := range t.res.Scopes(at.kind) {
		for _, part := range scope.PartsOf(at.policy) {
			if t.anyOver(scope.TargetsOf(part)) {
				return true
			}
		}
	}
	return false
}

// meant reports whether a reference that leads nowhere may be meant for one of the nodes.
func (t *toucher) meant(p model.Problem) bool {
	return p.Meant != nil && t.anyOver(t.res.Lookup(*p.Meant))
}

func (t *toucher) anyOver(ids []topology.NodeID) bool {
	return slices.ContainsFunc(ids, func(id topology.NodeID) bool { return t.over[id] })
}

// touchingPolicies tells which problems touch an answer about some policies, wherever they are.
func touchingPolicies(of ...*policy.Policy) func(model.Problem) bool {
	return func(p model.Problem) bool {
		return p.Incomplete() || p.Ref == nil || slices.ContainsFunc(of, func(x *policy.Policy) bool { return x.Ref() == *p.Ref })
	}
}

// touchingObjects tells which problems touch an answer about some objects; of all others, those that other says. What objects these are is found out
// at the first question.
func touchingObjects(find func(add func(model.Ref)), other func(p model.Problem, ref model.Ref) bool) func(model.Problem) bool {
	objects := sync.OnceValue(func() map[model.Ref]bool {
		out := map[model.Ref]bool{}
		find(func(ref model.Ref) { out[ref.WithoutSection()] = true })
		return out
	})
	return func(p model.Problem) bool {
		if p.Incomplete() || p.Ref == nil {
			return true
		}
		ref := p.Ref.WithoutSection()
		return objects()[ref] || other(p, ref)
	}
}

// touchingStatus tells which problems touch the statuses that are listed: those of the objects themselves, and of what else policies depend on.
func touchingStatus(r *resolve.Resolution, list *StatusList) func(model.Problem) bool {
	return touchingObjects(func(add func(model.Ref)) {
		for i := range list.Items {
			add(list.Items[i].Object)
		}
	}, func(p model.Problem, ref model.Ref) bool {
		own := r.Kind(ref.GroupKind()) != nil || slices.Contains(topology.RouteKinds(), ref.GroupKind())
		return !own && !besidePolicies(r, p)
	})
}

// touchingDrawn tells which problems touch a picture: those of what is drawn.
func touchingDrawn(r *resolve.Resolution, t *Topology) func(model.Problem) bool {
	return touchingObjects(func(add func(model.Ref)) {
		for i := range t.Nodes {
			add(t.Nodes[i].Ref)
			for _, member := range t.Nodes[i].Members {
				add(member)
			}
		}
	}, func(_ model.Problem, ref model.Ref) bool {
		return r.Kind(ref.GroupKind()) == nil && len(r.Lookup(ref)) == 0
	})
}
