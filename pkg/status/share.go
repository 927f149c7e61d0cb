package status

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// share is what one policy has of one stack's result.
type share struct {
	policy      *policy.Policy
	node        topology.NodeID
	sets, holds int
	most        bool // no other share of the policy in the stack has more: it stands for the policy at a target
	lostTo      model.Set[model.Ref]
	holders     model.Set[model.Ref]
	overriders  model.Set[model.Ref]
	conflicts   model.Set[Conflict]
}

// stack is what the shares of one stack are made of.
type stack struct {
	*resolve.Verdict
	holder       map[string][]merge.From // the sources of each rule in force
	contributors []merge.From            // those of all of them
	beside       []model.Ref             // the policies that no other keeps out
}

func newStack(o *resolve.Verdict) *stack {
	out := &stack{Verdict: o, holder: map[string][]merge.From{}}
	var contributors model.Set[merge.From]
	for _, r := range o.Result.Rules {
		out.holder[r.Name] = append(out.holder[r.Name], r.From...)
		contributors.Add(r.From...)
	}
	var beside model.Set[model.Ref]
	for _, l := range o.Layers {
		if !l.Rejected {
			beside.Add(l.Policy.Ref())
		}
	}
	out.contributors, out.beside = contributors.List, beside.List
	return out
}

// writers are the policies behind sources, each once.
func (s *stack) writers(from []merge.From) []model.Ref {
	var out model.Set[model.Ref]
	for _, f := range from {
		out.Add(s.Layers[f.Layer].Policy.Ref())
	}
	return out.List
}

func (c *counter) share(id resolve.StackID) []share {
	s := newStack(c.kind.Verdict(id))
	held := map[int]int{}
	for _, r := range s.Result.Rules {
		for _, f := range r.From {
			held[f.Layer]++
		}
	}
	out := make([]share, 0, len(s.Layers))
	index := map[int]int{}
	for i, l := range s.Layers {
		if l.Rejected || l.Policy.Builtin != "" {
			continue
		}
		index[i] = len(out)
		out = append(out, share{policy: l.Policy, node: l.Node, sets: held[i], holds: held[i]})
	}
	contributing := s.writers(s.contributors)
	for _, loss := range s.Losses() {
		at, ok := index[loss.From.Layer]
		if !ok || loss.Reason == merge.NoEffect {
			continue
		}
		now := s.holder[loss.Rule]
		writers := s.writers(now)
		c.counts[out[at].policy.Base()].lost.add(s, loss, writers)
		if now == nil {
			now, writers = s.contributors, contributing
		}
		out[at].lose(s, loss, now, writers)
	}
	markMost(out)
	return out
}

// markMost marks for every policy the share that has most, the first of equals.
func markMost(shares []share) {
	first := map[*policy.Policy]int{}
	for i := range shares {
		if at, ok := first[shares[i].policy]; !ok || shares[i].holds > shares[at].holds {
			first[shares[i].policy] = i
		}
	}
	for _, i := range first {
		shares[i].most = true
	}
}

// lose counts a rule that lost, and that others have now: the writers of the sources.
func (sh *share) lose(s *stack, loss merge.Loss, now []merge.From, writers []model.Ref) {
	sh.sets++
	sh.holders.Add(writers...)
	for _, to := range loss.To {
		winner := s.Layers[to.Layer].Policy
		if winner == sh.policy {
			continue
		}
		sh.lostTo.Add(winner.Ref())
		if loss.Reason != merge.Conflicted {
			sh.overriders.Add(winner.Ref())
		}
	}
	if loss.Reason != merge.Conflicted {
		return
	}
	for _, f := range now { // who has the place in the end keeps it out, whoever did first
		sh.conflicts.Add(Conflict{sh.node, s.Layers[f.Layer].Policy.Ref(), s.Result.Decision(&loss, f)})
	}
}
