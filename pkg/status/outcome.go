package status

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// PolicyOutcome is what became of one policy over all contexts of its kind.
type PolicyOutcome struct {
	Policy       *policy.Policy
	Targets      []topology.NodeID  // where it is attached
	Missed       []policy.TargetRef // references that led nowhere
	Contexts     int                // effective targets on whose way the policy stands, each with every distinct stack
	Paths        int                // ways to effective targets on which the policy stands
	PathsInForce int                // those on which it is in force, wholly or in part
	Sets         int                // rules that it sets, over all distinct stacks
	Holds        int                // those of which it is a source
	LostTo       []model.Ref        // policies that its rules lost to, when they lost; sorted
	// Holders are the policies that have now what this one does not: the sources of the rule, else
	// all that contribute there.
	Holders     []model.Ref
	Lost        []LostRule  // rules that it does not have somewhere, by name
	Overriders  []model.Ref // those of LostTo that took something where they do not keep the policy out
	RejectedBy  []model.Ref // policies in force that keep it out of targets of its own
	Conflicts   []Conflict  // the same, target by target
	KeptTargets int         // targets that nobody keeps it out of
	Affected    []model.Ref // objects that it changes: declared and effective targets, and the backends behind these

	heldAt map[model.Ref]targetHold // what it has at every effective target where it sets something
}

// Conflict is a target that another policy keeps one out of, with what put that one first.
type Conflict struct {
	At       topology.NodeID
	By       model.Ref
	Decision merge.Decision
}

// LostRule is a rule that a policy sets and does not have, over all stacks where that is so.
type LostRule struct {
	Rule    string
	To      []model.Ref // the policies that it lost to, when it lost; sorted
	Holders []model.Ref // the policies that have it now; sorted
	// Beside are the policies of each stack in which nobody has it, the loser included. The lists
	// are shared, and not to be changed.
	Beside [][]model.Ref
}

// Outcomes returns those of every policy of a kind, in the order of the kind's policies. They are
// not to be changed.
func Outcomes(r *resolve.Resolution, k *resolve.Kind) []*PolicyOutcome {
	type fatesIn struct{ kind *resolve.Kind }
	return resolve.Memoize(r, fatesIn{k}, func() []*PolicyOutcome { return countOutcomes(r, k) })
}

// countOutcomes counts for every policy of a kind.
func countOutcomes(r *resolve.Resolution, k *resolve.Kind) []*PolicyOutcome {
	c := outcomeCounter{res: r, kind: k, counts: make(map[*policy.Policy]*outcomeCount, len(k.Policies)),
		shares:  map[resolve.StackID][]policyShare{},
		allowed: map[policyTarget]bool{}, rejected: map[policyTarget]bool{}}
	for _, p := range k.Policies {
		t := &outcomeCount{outcome: &PolicyOutcome{Policy: p, Targets: k.TargetsOf(p)}, lost: lossesByRule{}}
		for j, ref := range p.Refs {
			if !k.HasTarget(p, j) {
				t.outcome.Missed = append(t.outcome.Missed, ref)
			}
		}
		c.counts[p] = t
	}
	for _, v := range k.Rejected {
		if t := c.counts[v.Attached.Policy]; !v.Silent {
			t.rejectedBy.Add(v.By.Ref())
			t.conflicts.Add(Conflict{v.Attached.Node, v.By.Ref(), v.Decision})
		}
	}
	k.EachContext(func(id topology.NodeID, s resolve.StackID) { c.countContext(id, s) })
	out := make([]*PolicyOutcome, len(k.Policies))
	for i, p := range k.Policies {
		out[i] = c.counts[p].buildOutcome()
		out[i].KeptTargets = c.countKeptTargets(out[i])
	}
	return out
}

type outcomeCounter struct {
	res    *resolve.Resolution
	kind   *resolve.Kind
	counts map[*policy.Policy]*outcomeCount
	shares map[resolve.StackID][]policyShare

	// where strategy none lets a policy stand, and where it rejects it, on some way
	allowed, rejected map[policyTarget]bool
}

// policyTarget is a policy at one of its targets.
type policyTarget struct {
	policy *policy.Policy
	node   topology.NodeID
}

// countKeptTargets counts the targets of a policy that no other one keeps it out of, on whichever
// way.
func (c *outcomeCounter) countKeptTargets(f *PolicyOutcome) int {
	n := 0
	for _, id := range f.Targets {
		at := policyTarget{f.Policy, id}
		if c.kind.StaysAt(f.Policy, id) && (c.allowed[at] || !c.rejected[at]) {
			n++
		}
	}
	return n
}

func (c *outcomeCounter) countContext(id topology.NodeID, s resolve.StackID) {
	shares, ok := c.shares[s]
	if !ok {
		shares = c.computeShares(s)
		c.shares[s] = shares
		for i := range shares {
			c.counts[shares[i].policy.Base()].addShare(&shares[i])
		}
	}
	paths := len(c.kind.Paths(id, s))
	for i := range shares {
		sh := &shares[i]
		t := c.counts[sh.policy.Base()]
		f := t.outcome
		f.Contexts++
		f.Paths += paths
		if paths > 0 && sh.most {
			f.addHold(c.res.Node(id), sh.sets, sh.holds)
		}
		f.Sets += sh.sets
		f.Holds += sh.holds
		if sh.holds > 0 {
			f.PathsInForce += paths
			c.addAffected(t, sh, id)
		}
		if at := (policyTarget{f.Policy, sh.node}); len(sh.conflicts.List) > 0 && sh.holds == 0 {
			c.rejected[at] = true
		} else {
			c.allowed[at] = true
		}
	}
}

// addAffected adds the objects that the policy really changes (gep713 P39).
func (c *outcomeCounter) addAffected(t *outcomeCount, sh *policyShare, id topology.NodeID) {
	n := c.res.Node(id)
	t.affected.Add(c.res.Node(sh.node).Ref, n.Ref)
	if n.Role != topology.Rule {
		return
	}
	for _, child := range c.res.Graph.Children(c.kind.Family, id) {
		t.affected.Add(c.res.Node(child).Ref.WithoutSection())
	}
}
