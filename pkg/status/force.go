package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ForceState says where a policy is in force, of all effective targets that it stands on the way of.
type ForceState string

// The states. Unknown: what the input does not tell may change it.
const (
	Everywhere   ForceState = "Everywhere"
	Partly       ForceState = "Partly"
	Nowhere      ForceState = "Nowhere"
	ForceUnknown ForceState = "Unknown"
)

// Force is where a policy is in force, whatever its controller reports.
type Force struct {
	State   ForceState
	Targets int           // effective targets on whose way it stands, each once
	Wholly  int           // those where everything that it sets is in force, on every way
	Partly  int           // those where some of it is
	Role    topology.Role // of the targets; "" if they differ or there are none
}

// hold is what a policy has at a target, over all ways to it.
type hold uint8

const (
	holdsSome hold = 1 << iota
	lacksSome
)

// holdAt is hold at a target of a role.
type holdAt struct {
	hold
	role topology.Role
}

// note adds what the policy has at a target on one more way: of a policy that stands twice on the way, the share that has most.
func (f *Fate) note(n *topology.Node, sets, holds int) {
	if sets == 0 {
		return
	}
	if f.held == nil {
		f.held = map[model.Ref]holdAt{}
	}
	at := f.held[n.Ref]
	at.role = n.Role
	if holds > 0 {
		at.hold |= holdsSome
	}
	if holds < sets {
		at.hold |= lacksSome
	}
	f.held[n.Ref] = at
}

// forceOf sums up where a policy is in force.
func forceOf(in Input) Force {
	f := in.Fate
	held := map[model.Ref]holdAt{}
	for ref, at := range f.held {
		held[ref] = at
	}
	for _, scope := range in.Resolution.Scopes(in.Kind) {
		for _, at := range scope.Apart(f.Policy) {
			if n := in.Resolution.Node(at.Node); at.InForce {
				held[n.Ref] = holdAt{holdsSome, n.Role}
			}
		}
	}
	var out Force
	roles := map[topology.Role]bool{}
	for _, at := range held {
		out.Targets++
		roles[at.role] = true
		switch at.hold {
		case holdsSome:
			out.Wholly++
		case holdsSome | lacksSome:
			out.Partly++
		}
	}
	for role := range roles {
		if len(roles) == 1 {
			out.Role = role
		}
	}
	switch {
	case in.unknownForce(), out.Targets == 0 && in.unseenWay():
		out.State = ForceUnknown
	case out.Wholly+out.Partly == 0:
		out.State = Nowhere
	case out.Wholly == out.Targets:
		out.State = Everywhere
	default:
		out.State = Partly
	}
	return out
}

// unknownForce reports whether what may not be read, or is only guessed, may change where the policy is in force.
func (in Input) unknownForce() bool {
	p := in.Fate.Policy
	for _, scope := range in.Resolution.Scopes(in.Kind) {
		if slices.ContainsFunc(scope.PartsOf(p), func(part *policy.Policy) bool { return len(scope.Gaps().Of(part)) > 0 }) {
			return true
		}
	}
	return !p.Refused && (!in.Kind.Sees(p.Ref().Namespace) || lost(in) || slices.ContainsFunc(p.Refs, in.withheld) || len(in.Kind.Gaps().Of(p)) > 0 ||
		slices.ContainsFunc(in.Kind.Guesses().Of(p), model.Problem.Incomplete))
}

// unseenWay reports whether traffic may come to a target by a Gateway or a Service that is not in the input.
func (in Input) unseenWay() bool {
	g := in.Resolution.Graph
	return slices.ContainsFunc(in.Fate.Targets, func(id topology.NodeID) bool {
		if int(id) >= g.Len() {
			return false
		}
		if g.Node(id).Role == topology.Rule {
			id = g.Parents(topology.All, id)[0]
		}
		return slices.ContainsFunc(g.Attachments(id), func(a topology.Attachment) bool { return a.State == topology.Unknown || a.Missing })
	})
}

// selected are the targets of a policy that no reference names: those that its selectors select, or that it is for by itself.
func selected(in Input) []model.Ref {
	f := in.Fate
	named := map[model.Ref]bool{}
	for _, t := range f.Policy.Refs {
		if t.Selects == nil {
			named[t.Ref.WithoutSection()] = true
		}
	}
	var out model.Set[model.Ref]
	for _, id := range f.Targets {
		if ref := in.Resolution.Node(id).Ref; !named[ref.WithoutSection()] {
			out.Add(ref)
		}
	}
	return sortedRefs(out)
}
