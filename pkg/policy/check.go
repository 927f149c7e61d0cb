package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/admission"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Validity is what makes policies of a kind void, or suspicious.
type Validity struct {
	Admission *admission.Validation // nil: none is known
	Advice    AdviceFunc            // nil: there is none
	AsWritten bool                  // the API's defaults are not filled in
	Tolerant  bool                  // a policy that the API would refuse takes part all the same, and is reported
	Checks    []CheckMaker
	// of policies that no other one keeps out: who is in error by them has kept others out before
	LaterChecks []CheckMaker
	InError     ErrorHandling // what becomes of policies in which a check finds a fault
	Lints       []Lint
}

// AdviceFunc says what to do about a policy that the kind's API refuses, or drops a field of; "" if
// there is nothing to say.
type AdviceFunc func(o *model.Object) string

// Check judges a policy by the objects around it: why it is in error, "" if it is not, and what
// there is to say about that. One that is in error on some ways of the traffic only has its faults
// noted instead, by the nodes that they are about.
type Check func(p *Policy, in *model.Snapshot) (fault string, problems []model.Problem)

// CheckMaker prepares the check of policies by the nodes to which they are attached and by what
// else there is on the ways of traffic. It is called once, for all policies of a kind.
type CheckMaker func(k *Kind, g *topology.Graph, in *model.Snapshot) AttachedCheck

// AttachedCheck judges a policy that is attached to some nodes, as a Check does.
type AttachedCheck func(p *Policy, at []topology.NodeID) (fault string, problems []model.Problem)

// Lint reports suspicious attachments of policies of the kind.
type Lint func(k *Kind, g *topology.Graph, at AttachedAt) []model.Problem

// AttachedAt lists the policies attached to a node, established first, before any is rejected. The
// list is not to be changed.
type AttachedAt func(topology.NodeID) []Attached

// HasAny reports whether a policy is attached to the node.
func (at AttachedAt) HasAny(id topology.NodeID) bool { return len(at(id)) > 0 }

// ErrorHandling is what becomes of a policy in which a check finds a fault.
type ErrorHandling string

// The ways with policies in error.
const (
	DropPolicy ErrorHandling = "drop"  // it takes no part
	HoldPlace  ErrorHandling = "claim" // it holds its place, empty: what is above it does not reach what is below
	// VoidResult: nothing at all is in force of the kind where it holds.
	VoidResult ErrorHandling = "poison"
)

// AttachedChecks prepares checks of the kind.
func (k *Kind) AttachedChecks(checks []CheckMaker, g *topology.Graph, in *model.Snapshot) []AttachedCheck {
	var out []AttachedCheck
	for _, check := range checks {
		out = append(out, check(k, g, in))
	}
	return out
}

// RunChecks runs checks on a policy that is attached to some nodes. The first fault counts.
func (k *Kind) RunChecks(checks []AttachedCheck, p *Policy, at []topology.NodeID) []model.Problem {
	var out []model.Problem
	for _, check := range checks {
		fault, problems := check(p, at)
		out = append(out, problems...)
		if p.Fault == "" {
			p.Fault = fault
		}
	}
	if p.Fault == "" || k.InError != HoldPlace {
		return out
	}
	p.Unset, p.Blocks = nil, p.PlaceholderBlocks()
	return out
}

// PlaceholderBlocks returns the policy's blocks where it is in error and only holds its place.
func (p *Policy) PlaceholderBlocks() []merge.Block { return p.blocksMergedBy(mergePlaceholder) }

// DroppedBlocks returns the policy's blocks where it is in error and takes no part: its settings
// are lost.
func (p *Policy) DroppedBlocks() []merge.Block { return p.blocksMergedBy(mergeNothing) }

// blocksMergedBy returns the policy's blocks, merged by a function instead of their own strategies.
func (p *Policy) blocksMergedBy(how merge.StrategyFunc) []merge.Block {
	out := slices.Clone(p.Blocks)
	for i := range out {
		out[i].When, out[i].Strategy = nil, merge.Strategy{Func: how}
	}
	return out
}

// mergePlaceholder is the step of a policy in error: none of its settings gets in, but where
// nothing is below it, its place is taken. That is marked by a deletion, which the fold takes out
// again at the end; it is no filler, so the sets above find the place taken.
func mergePlaceholder(in, lower []merge.Unit) ([]merge.Unit, []merge.Effect) {
	_, effects := mergeNothing(in, lower)
	if len(lower) > 0 || len(in) == 0 {
		return lower, effects
	}
	mark := merge.Unit{Null: true, From: in[0].From}
	// of a field, whose loss is written down above; deeper ones would leave their container behind
	if len(in[0].Path) == 1 {
		mark.Path = in[0].Path
	}
	return []merge.Unit{mark}, effects
}

// mergeNothing is the step of a policy in error that leaves its place open.
func mergeNothing(in, lower []merge.Unit) ([]merge.Unit, []merge.Effect) {
	var effects []merge.Effect
	for _, u := range in {
		effects = append(effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From,
			Action: merge.Dropped, Reason: merge.Invalid})
	}
	return lower, effects
}
