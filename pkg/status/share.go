package status

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// policyShare is what one policy has of one stack's result.
type policyShare struct {
	policy      *policy.Policy
	node        topology.NodeID
	sets, holds int
	most        bool // no other share of the policy in the stack has more: it stands for the policy at a target
	lostTo      model.Set[model.Ref]
	holders     model.Set[model.Ref]
	overriders  model.Set[model.Ref]
	conflicts   model.Set[Conflict]
}

// stackResult is what the shares of one stack are made of.
type stackResult struct {
	*resolve.Verdict
	holders      map[string][]merge.Source // the sources of each rule in force
	contributors []merge.Source            // those of all of them
	beside       []model.Ref               // the policies that no other keeps out
}

func newStackResult(o *resolve.Verdict) *stackResult {
	out := &stackResult{Verdict: o, holders: map[string][]merge.Source{}}
	var contributors model.Set[merge.Source]
	for _, r := range o.Result.Rules {
		out.holders[r.Name] = append(out.holders[r.Name], r.From...)
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

// policiesOf returns the policies behind sources, each once.
func (s *stackResult) policiesOf(from []merge.Source) []model.Ref {
	var out model.Set[model.Ref]
	for _, f := range from {
		out.Add(s.Layers[f.Layer].Policy.Ref())
	}
	return out.List
}

func (c *outcomeCounter) computeShares(id resolve.StackID) []policyShare {
	s := newStackResult(c.kind.Verdict(id))
	held := map[int]int{}
	for _, r := range s.Result.Rules {
		for _, f := range r.From {
			held[f.Layer]++
		}
	}
	out := make([]policyShare, 0, len(s.Layers))
	index := map[int]int{}
	for i, l := range s.Layers {
		if l.Rejected || l.Policy.Builtin != "" {
			continue
		}
		index[i] = len(out)
		out = append(out, policyShare{policy: l.Policy, node: l.Node, sets: held[i], holds: held[i]})
	}
	contributing := s.policiesOf(s.contributors)
	for _, loss := range s.Losses() {
		at, ok := index[loss.From.Layer]
		if !ok || loss.Reason == merge.NoEffect {
			continue
		}
		now := s.holders[loss.Rule]
		writers := s.policiesOf(now)
		c.counts[out[at].policy.Base()].lost.addLoss(s, loss, writers)
		if now == nil {
			now, writers = s.contributors, contributing
		}
		out[at].addLoss(s, loss, now, writers)
	}
	markMost(out)
	return out
}

// markMost marks for every policy the share that has most, the first of equals.
func markMost(shares []policyShare) {
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

// addLoss counts a rule that lost, and that others have now: the writers of the sources.
func (sh *policyShare) addLoss(s *stackResult, loss merge.Loss, now []merge.Source, writers []model.Ref) {
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
	for _, f := range now { // the policy that has the place in the end keeps it out
		sh.conflicts.Add(Conflict{sh.node, s.Layers[f.Layer].Policy.Ref(), s.Result.DecisionAgainst(&loss, f)})
	}
}
