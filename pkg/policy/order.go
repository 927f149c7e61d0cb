package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Attached is a policy at one of its targets.
type Attached struct {
	Policy *Policy
	Node   topology.NodeID
	Ref    int // which of the policy's references led there; -1: none, the target or something else names the policy
	Index  int // the position that the key "index" compares

	Level   topology.Role  // "": that of the node
	Details *TargetDetails // what is different at this target; nil: nothing is
}

// TargetDetails is what a policy is at one target in another way than at others.
type TargetDetails struct {
	Units    []merge.Unit      // what it sets there, in place of its main block; nil: what it says itself
	Parents  []topology.NodeID // the nodes right above by which it comes there; nil: all that are there
	Strategy *StrategyChoice   // the strategy that what names the policy there states; nil: its own
}

// BlocksAtTarget returns the blocks of the policy at its target.
func (a *Attached) BlocksAtTarget() []merge.Block {
	own := a.Policy.Blocks
	if a.Details == nil || a.Details.Units == nil && a.Details.Strategy == nil || len(own) == 0 {
		return own
	}
	out := slices.Clone(own)
	if a.Details.Units != nil {
		out[len(out)-1].Units = a.Details.Units
	}
	for i := range out {
		if a.Details.Strategy != nil {
			out[i].Strategy = a.Details.Strategy.ForBlock(out[i].Kind)
		}
	}
	return out
}

// AttachPoint is where a policy is attached: at a node, at a level.
type AttachPoint struct {
	node  topology.NodeID
	level topology.Role
}

// Point returns the place of the attachment.
func (a Attached) Point() AttachPoint { return AttachPoint{a.Node, a.Level} }

// IsAtSamePlace reports whether two are attachments to one place.
func (a Attached) IsAtSamePlace(b Attached) bool { return a.Point() == b.Point() }

// OutranksListenerSets reports whether the policy names a listener of a Gateway and counts more in
// the Gateway's ListenerSets than what these have.
func (a *Attached) OutranksListenerSets() bool {
	return a.Ref >= 0 && a.Ref < len(a.Policy.Refs) && a.Policy.Refs[a.Ref].OutranksListenerSets
}

// sectionName returns the section that the policy names in its reference.
func (a *Attached) sectionName() string {
	if a.Ref < 0 || a.Ref >= len(a.Policy.Refs) {
		return ""
	}
	return a.Policy.Refs[a.Ref].Ref.Section
}

// Ordering is the order in which policies of a kind stand.
type Ordering struct {
	Compare         []Key
	ChecksDirection bool // the order of folding is left open upstream: compare both (gep713 P27)
}

// IsByLevel reports whether the level decides first: then policies are ordered place by place, else
// whole stacks are.
func (k *Ordering) IsByLevel() bool { return len(k.Compare) > 0 && k.Compare[0].By == ByLevel }

// HasAgeKey reports whether the age of policies has a part in their order.
func (k *Ordering) HasAgeKey() bool {
	return slices.ContainsFunc(k.Compare, func(key Key) bool { return key.By == ByCreated })
}

// NeedsAge reports whether it would take the age of two policies to order them: the keys before it
// do not tell them apart.
func (k *Ordering) NeedsAge(a, b Attached) bool {
	at := slices.IndexFunc(k.Compare, func(key Key) bool { return key.By == ByCreated })
	first, _ := k.firstDifference(&a, &b, true)
	return at >= 0 && (first < 0 || at < first)
}

// Order sorts policies, established first, by the kind's comparator (engine E9): those of one
// place, or those of a whole stack if the level does not count. If one of them has no creation
// time, age is ignored for all, since comparing pair by pair would not be transitive; then
// ageIgnored is true.
func (k *Ordering) Order(as []Attached) (ordered []Attached, ageIgnored bool) {
	if k.HasAgeKey() && len(as) > 1 {
		ageIgnored = slices.ContainsFunc(as, func(a Attached) bool { return a.Policy.Object.Created.IsZero() })
	}
	out := slices.Clone(as)
	slices.SortStableFunc(out, func(a, b Attached) int {
		if _, c := k.firstDifference(&a, &b, ageIgnored); c != 0 {
			return c
		}
		return a.Policy.Ref().Compare(b.Policy.Ref())
	})
	return out, ageIgnored
}

// HasOpenKey reports whether the implementation leaves open an order that the kind's keys do not
// settle.
func (k *Ordering) HasOpenKey() bool {
	return slices.ContainsFunc(k.Compare, func(key Key) bool { return key.By == ByOpen })
}

// IsLeftOpen reports whether the implementation leaves the order of two policies open: only keys
// that stand in for it tell them apart.
func (k *Ordering) IsLeftOpen(a, b Attached) bool {
	at := slices.IndexFunc(k.Compare, func(key Key) bool { return key.By == ByOpen })
	first, _ := k.firstDifference(&a, &b, false)
	return at >= 0 && (first < 0 || at < first)
}

// IsTied reports whether nothing but their positions tells two policies apart by the kind's
// comparator: their order is left open.
func (k *Ordering) IsTied(a, b Attached) bool {
	if a.Policy.Base() == b.Policy.Base() {
		return false
	}
	for i := range k.Compare {
		if k.Compare[i].By != ByIndex && k.Compare[i].compare(&a, &b) != 0 {
			return false
		}
	}
	return true
}
