package status

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Fate is what became of one policy over all contexts of its kind.
type Fate struct {
	Policy   *policy.Policy
	Targets  []topology.NodeID  // where it is attached
	Missed   []policy.TargetRef // references that led nowhere
	Contexts int                // effective targets on whose way the policy stands, each with every distinct stack
	Paths    int                // ways to effective targets on which the policy stands
	Reached  int                // those on which it is in force, wholly or in part
	Sets     int                // rules that it sets, over all distinct stacks
	Holds    int                // those of which it is a source
	LostTo   []model.Ref        // policies that its rules lost to, when they lost; sorted
	// Holders are the policies that have now what this one does not: the sources of the rule, else all that contribute there.
	Holders    []model.Ref
	Lost       []Lost      // rules that it does not have somewhere, by name
	Overriders []model.Ref // those of LostTo that took something where they do not keep the policy out
	RejectedBy []model.Ref // policies in force that keep it out of targets of its own
	Conflicts  []Conflict  // the same, target by target
	Kept       int         // targets that nobody keeps it out of
	Affected   []model.Ref // objects that it changes: declared and effective targets, and the backends behind these

	held map[model.Ref]holdAt // what it has at every effective target where it sets something
}

// Conflict is a target that another policy keeps one out of, with what put that one first.
type Conflict struct {
	At       topology.NodeID
	By       model.Ref
	Decision merge.Decision
}

// Lost is a rule that a policy sets and does not have, over all stacks where that is so.
type Lost struct {
	Rule    string
	To      []model.Ref // the policies that it lost to, when it lost; sorted
	Holders []model.Ref // the policies that have it now; sorted
	// Beside are the policies of each stack in which nobody has it, the loser included. The lists are shared, and not to be changed.
	Beside [][]model.Ref
}

// Fates are those of every policy of a kind, in the order of the kind's policies. They are not to be changed.
func Fates(r *resolve.Resolution, k *resolve.Kind) []*Fate {
	type fatesIn struct{ kind *resolve.Kind }
	return resolve.Shared(r, fatesIn{k}, func() []*Fate { return countFates(r, k) })
}

// countFates counts for every policy of a kind.
func countFates(r *resolve.Resolution, k *resolve.Kind) []*Fate {
	c := counter{res: r, kind: k, counts: make(map[*policy.Policy]*counting, len(k.Policies)), shares: map[resolve.StackID][]share{},
		spared: map[spot]bool{}, refused: map[spot]bool{}}
	for _, p := range k.Policies {
		t := &counting{fate: &Fate{Policy: p, Targets: k.TargetsOf(p)}, lost: losses{}}
		for j, ref := range p.Refs {
			if !k.Attaches(p, j) {
				t.fate.Missed = append(t.fate.Missed, ref)
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
	k.EachContext(func(id topology.NodeID, s resolve.StackID) { c.context(id, s) })
	out := make([]*Fate, len(k.Policies))
	for i, p := range k.Policies {
		out[i] = c.counts[p].done()
		out[i].Kept = c.kept(out[i])
	}
	return out
}

type counter struct {
	res    *resolve.Resolution
	kind   *resolve.Kind
	counts map[*policy.Policy]*counting
	shares map[resolve.StackID][]share

	spared, refused map[spot]bool // where strategy none lets a policy stand, and where it rejects it, on some way
}

// spot is a policy at one of its targets.
type spot struct {
	policy *policy.Policy
	node   topology.NodeID
}

// kept counts the targets of a policy that no other one keeps it out of, on whichever way.
func (c *counter) kept(f *Fate) int {
	n := 0
	for _, id := range f.Targets {
		at := spot{f.Policy, id}
		if c.kind.Keeps(f.Policy, id) && (c.spared[at] || !c.refused[at]) {
			n++
		}
	}
	return n
}

func (c *counter) context(id topology.NodeID, s resolve.StackID) {
	shares, ok := c.shares[s]
	if !ok {
		shares = c.share(s)
		c.shares[s] = shares
		for i := range shares {
			c.counts[shares[i].policy.Base()].add(&shares[i])
		}
	}
	paths := len(c.kind.Paths(id, s))
	for i := range shares {
		sh := &shares[i]
		t := c.counts[sh.policy.Base()]
		f := t.fate
		f.Contexts++
		f.Paths += paths
		if paths > 0 && sh.most {
			f.note(c.res.Node(id), sh.sets, sh.holds)
		}
		f.Sets += sh.sets
		f.Holds += sh.holds
		if sh.holds > 0 {
			f.Reached += paths
			c.affect(t, sh, id)
		}
		if at := (spot{f.Policy, sh.node}); len(sh.conflicts.List) > 0 && sh.holds == 0 {
			c.refused[at] = true
		} else {
			c.spared[at] = true
		}
	}
}

// affect notes the objects that the policy really changes (gep713 P39).
func (c *counter) affect(t *counting, sh *share, id topology.NodeID) {
	n := c.res.Node(id)
	t.affected.Add(c.res.Node(sh.node).Ref, n.Ref)
	if n.Role != topology.Rule {
		return
	}
	for _, child := range c.res.Graph.Children(c.kind.Family, id) {
		t.affected.Add(c.res.Node(child).Ref.WithoutSection())
	}
}
