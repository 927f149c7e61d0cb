package status

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// InForceState says where a policy is in force, of all effective targets that it stands on the way
// of.
type InForceState string

// The states. Unknown: what the input does not tell may change it.
const (
	Everywhere     InForceState = "Everywhere"
	Partly         InForceState = "Partly"
	Nowhere        InForceState = "Nowhere"
	InForceUnknown InForceState = "Unknown"
)

// InForce is where a policy is in force, whatever its controller reports.
type InForce struct {
	State   InForceState
	Targets int           // effective targets on whose way it stands, each once
	Wholly  int           // those where everything that it sets is in force, on every way
	Partly  int           // those where some of it is
	Role    topology.Role // of the targets; "" if they differ or there are none
	Kind    string        // likewise
}

// holdState is what a policy has at a target, over all ways to it.
type holdState uint8

const (
	holdsSome holdState = 1 << iota
	lacksSome
)

// targetHold is holdState at a target of a role.
type targetHold struct {
	holdState
	role topology.Role
	kind string
}

// addHold adds what the policy has at a target on one more way: of a policy that stands twice on
// the way, the share that has most.
func (f *PolicyOutcome) addHold(n *topology.Node, sets, holds int) {
	if sets == 0 {
		return
	}
	if f.heldAt == nil {
		f.heldAt = map[model.Ref]targetHold{}
	}
	at := f.heldAt[n.Ref]
	at.role, at.kind = n.Role, n.Ref.Kind
	if holds > 0 {
		at.holdState |= holdsSome
	}
	if holds < sets {
		at.holdState |= lacksSome
	}
	f.heldAt[n.Ref] = at
}

// computeInForce sums up where a policy is in force.
func computeInForce(in Input) InForce {
	f := in.Outcome
	held := map[model.Ref]targetHold{}
	for ref, at := range f.heldAt {
		held[ref] = at
	}
	for _, scope := range in.Resolution.ScopesOf(in.Kind) {
		for _, at := range scope.UnattachedTargets(f.Policy) {
			if n := in.Resolution.Node(at.Node); at.InForce {
				held[n.Ref] = targetHold{holdsSome, n.Role, n.Ref.Kind}
			}
		}
	}
	var out InForce
	roles, kinds := map[topology.Role]bool{}, map[string]bool{}
	for _, at := range held {
		out.Targets++
		roles[at.role], kinds[at.kind] = true, true
		switch at.holdState {
		case holdsSome:
			out.Wholly++
		case holdsSome | lacksSome:
			out.Partly++
		}
	}
	if len(roles) == 1 {
		for role := range roles {
			out.Role = role
		}
	}
	if len(kinds) == 1 {
		for kind := range kinds {
			out.Kind = kind
		}
	}
	switch {
	case in.isForceUnknown(), out.Targets == 0 && (in.hasUnseenPath() || in.selectsUnseenPods()),
		out.Wholly+out.Partly == 0 && slices.ContainsFunc(in.Outcome.Policy.Problems, model.Problem.IsUnevaluated):
		out.State = InForceUnknown
	case out.Wholly+out.Partly == 0:
		out.State = Nowhere
	case out.Wholly == out.Targets:
		out.State = Everywhere
	default:
		out.State = Partly
	}
	return out
}

// isForceUnknown reports whether what may not be read, or is only guessed, may change where the
// policy is in force.
func (in Input) isForceUnknown() bool {
	p := in.Outcome.Policy
	for _, scope := range in.Resolution.ScopesOf(in.Kind) {
		if slices.ContainsFunc(scope.PartsOf(p),
			func(part *policy.Policy) bool { return len(scope.Gaps().Of(part)) > 0 }) {
			return true
		}
	}
	return !p.Refused && (!in.Kind.SeesNamespace(p.Ref().Namespace) || hasUnknownTargets(in) ||
		slices.ContainsFunc(p.Refs, in.isUnread) || len(in.Kind.Gaps().Of(p)) > 0 ||
		slices.ContainsFunc(in.Kind.Guesses().Of(p), model.Problem.IsIncomplete))
}

// selectsUnseenPods reports whether a policy that selects nothing of the input may select Pods, or
// what Pods bring: manifests seldom have them all, as charts and controllers make some.
func (in Input) selectsUnseenPods() bool {
	p := in.Outcome.Policy
	spec := p.Object.Body.Field("spec")
	return !p.Refused && len(p.Refs) == 0 && !spec.Has("targetRef") && !spec.Has("targetRefs") &&
		len(in.Outcome.Targets) == 0 && in.Kind.SelectsPods() &&
		!in.Resolution.Snapshot.HasAll(podKind, "")
}

var podKind = model.GroupKind{Kind: "Pod"}

// hasUnseenPath reports whether traffic may come to a target by a Gateway, a Service or a route that
// is not in the input.
func (in Input) hasUnseenPath() bool {
	g := in.Resolution.Graph
	return slices.ContainsFunc(in.Outcome.Targets, func(id topology.NodeID) bool {
		if int(id) >= g.Len() {
			return false
		}
		if g.Node(id).Role == topology.Rule {
			id = g.Parents(topology.All, id)[0]
		}
		return g.MayMissRoutes(id) || slices.ContainsFunc(g.Attachments(id),
			func(a topology.Attachment) bool { return a.State == topology.Unknown || a.Missing })
	})
}

// selectedTargets returns the targets of a policy that no reference names: those that its selectors
// select, or that it is for by itself.
func selectedTargets(in Input) []model.Ref {
	f := in.Outcome
	named := map[model.Ref]bool{}
	for _, t := range f.Policy.Refs {
		if t.Selection == nil {
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
