package status

import (
	"slices"

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
	To      []model.Ref // the policies that it lost to, when it lost
	Holders []model.Ref // the policies that have it now
	Beside  []model.Ref // all policies of the stacks in which nobody has it, the loser included
}

// Fates are those of every policy of a kind, in the order of the kind's policies. They are not to be changed.
func Fates(r *resolve.Resolution, k *resolve.Kind) []*Fate {
	type fatesIn struct{ kind *resolve.Kind }
	return resolve.Shared(r, fatesIn{k}, func() []*Fate { return countFates(r, k) })
}

// countFates counts for every policy of a kind.
func countFates(r *resolve.Resolution, k *resolve.Kind) []*Fate {
	c := counter{res: r, kind: k, fates: map[*policy.Policy]*Fate{}, affected: map[*policy.Policy]map[model.Ref]bool{}, lost: map[*policy.Policy]losses{},
		spared: map[spot]bool{}, refused: map[spot]bool{}}
	out := make([]*Fate, len(k.Policies))
	for i, p := range k.Policies {
		f := &Fate{Policy: p, Targets: k.TargetsOf(p)}
		for j, ref := range p.Refs {
			if !k.Attaches(p, j) {
				f.Missed = append(f.Missed, ref)
			}
		}
		c.fates[p], c.affected[p], c.lost[p], out[i] = f, map[model.Ref]bool{}, losses{}, f
	}
	for _, v := range k.Rejected {
		if f := c.fates[v.Attached.Policy]; !v.Silent {
			f.RejectedBy = append(f.RejectedBy, v.By.Ref())
			f.Conflicts = append(f.Conflicts, Conflict{v.Attached.Node, v.By.Ref(), v.Decision})
		}
	}
	k.EachContext(func(id topology.NodeID, s resolve.StackID) { c.context(id, s) })
	for _, f := range out {
		f.Kept = c.kept(f)
		for _, list := range []*[]model.Ref{&f.LostTo, &f.Overriders, &f.Holders, &f.RejectedBy} {
			slices.SortFunc(*list, model.Ref.Compare)
			*list = slices.Compact(*list)
		}
		f.Lost = c.lost[f.Policy].sorted()
		for ref := range c.affected[f.Policy] {
			f.Affected = append(f.Affected, ref)
		}
		slices.SortFunc(f.Affected, model.Ref.Compare)
	}
	return out
}

type counter struct {
	res      *resolve.Resolution
	kind     *resolve.Kind
	fates    map[*policy.Policy]*Fate
	affected map[*policy.Policy]map[model.Ref]bool
	lost     map[*policy.Policy]losses
	shares   map[resolve.StackID][]share

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

// share is what one policy has of one stack's result.
type share struct {
	policy          *policy.Policy
	node            topology.NodeID
	sets, holds     int
	lostTo, holders []model.Ref
	overriders      []model.Ref
	conflicts       []Conflict
}

func (c *counter) context(id topology.NodeID, s resolve.StackID) {
	if c.shares == nil {
		c.shares = map[resolve.StackID][]share{}
	}
	shares, ok := c.shares[s]
	if !ok {
		shares = c.share(s)
		c.shares[s] = shares
	}
	for i, sh := range shares {
		f := c.fates[sh.policy.Base()]
		f.Contexts++
		paths := len(c.kind.Paths(id, s))
		f.Paths += paths
		if paths > 0 {
			f.note(c.res.Node(id), shares, i)
		}
		if sh.holds > 0 {
			f.Reached += paths
		}
		f.Sets += sh.sets
		f.Holds += sh.holds
		f.LostTo, f.Holders, f.Overriders = appendNew(f.LostTo, sh.lostTo), appendNew(f.Holders, sh.holders), appendNew(f.Overriders, sh.overriders)
		if len(sh.conflicts) > 0 {
			f.RejectedBy, f.Conflicts = appendNew(f.RejectedBy, sh.holders), appendNew(f.Conflicts, sh.conflicts)
		}
		if at := (spot{f.Policy, sh.node}); len(sh.conflicts) > 0 && sh.holds == 0 {
			c.refused[at] = true
		} else {
			c.spared[at] = true
		}
		if sh.holds > 0 {
			c.affect(sh, id)
		}
	}
}

func appendNew[T comparable](list, more []T) []T {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// affect notes the objects that the policy really changes (gep713 P39).
func (c *counter) affect(sh share, id topology.NodeID) {
	n := c.res.Node(id)
	to := c.affected[sh.policy.Base()]
	to[c.res.Node(sh.node).Ref], to[n.Ref] = true, true
	if n.Role != topology.Rule {
		return
	}
	for _, child := range c.res.Graph.Children(c.kind.Family, id) {
		to[c.res.Node(child).Ref.WithoutSection()] = true
	}
}

func (c *counter) share(s resolve.StackID) []share {
	o := c.kind.Verdict(s)
	contributors := contributorsOf(o)
	holder := map[string][]merge.From{}
	held := map[int]int{}
	for _, r := range o.Result.Rules {
		for _, f := range r.From {
			held[f.Layer]++
		}
		holder[r.Name] = append(holder[r.Name], r.From...)
	}
	out := make([]share, 0, len(o.Layers))
	index := map[int]int{}
	for i, l := range o.Layers {
		if l.Rejected || l.Policy.Builtin != "" {
			continue
		}
		index[i] = len(out)
		out = append(out, share{policy: l.Policy, node: l.Node, sets: held[i], holds: held[i]})
	}
	for _, loss := range o.Losses() {
		at, ok := index[loss.From.Layer]
		if !ok || loss.Reason == merge.NoEffect {
			continue
		}
		now := holder[loss.Rule]
		c.lost[out[at].policy.Base()].add(o, loss, writers(o, now))
		if now == nil {
			now = contributors
		}
		out[at].lose(o, loss, now)
	}
	return out
}

// lose counts a rule that lost, and that others have now.
func (sh *share) lose(o *resolve.Verdict, loss merge.Loss, now []merge.From) {
	sh.sets++
	sh.holders = appendNew(sh.holders, writers(o, now))
	for _, to := range loss.To {
		winner := o.Layers[to.Layer].Policy
		if winner == sh.policy {
			continue
		}
		sh.lostTo = appendNew(sh.lostTo, []model.Ref{winner.Ref()})
		if loss.Reason != merge.Conflicted {
			sh.overriders = appendNew(sh.overriders, []model.Ref{winner.Ref()})
		}
	}
	if loss.Reason != merge.Conflicted {
		return
	}
	for _, f := range now { // who has the place in the end keeps it out, whoever did first
		sh.conflicts = appendNew(sh.conflicts, []Conflict{{sh.node, o.Layers[f.Layer].Policy.Ref(), o.Result.Decision(&loss, f)}})
	}
}

// writers are the policies behind sources, each once.
func writers(o *resolve.Verdict, from []merge.From) []model.Ref {
	var out []model.Ref
	for _, f := range from {
		out = appendNew(out, []model.Ref{o.Layers[f.Layer].Policy.Ref()})
	}
	return out
}

// contributorsOf are the sources of everything in force.
func contributorsOf(o *resolve.Verdict) []merge.From {
	var out []merge.From
	for _, r := range o.Result.Rules {
		out = appendNew(out, r.From)
	}
	return out
}
