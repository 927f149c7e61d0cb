package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// EachStackInForce calls see for every stack that reaches an effective target, each once, in a
// stable order.
func (k *Kind) EachStackInForce(see func(StackID)) {
	seen := make([]bool, len(k.verdicts))
	for id := range k.contexts {
		if len(k.contexts[id]) == 0 || !k.HasResultsAtNode(k.res.Node(topology.NodeID(id))) {
			continue
		}
		for _, s := range k.contexts[id] {
			if !seen[s] {
				seen[s] = true
				see(s)
			}
		}
	}
}

// EachContext calls see for every effective target with every stack that reaches it, targets in
// order; stacks without policies are left out.
func (k *Kind) EachContext(see func(topology.NodeID, StackID)) {
	for id := range k.contexts {
		if len(k.contexts[id]) == 0 || !k.HasResultsAtNode(k.res.Node(topology.NodeID(id))) {
			continue
		}
		for _, s := range k.contexts[id] {
			if !k.IsEmpty(s) {
				see(topology.NodeID(id), s)
			}
		}
	}
}

// reportUnreached reports policies that attach, but to nothing that traffic passes on the way to an
// effective target (gep713 P36).
func (k *pathEngine) reportUnreached() []model.Problem {
	used, visited := make([]bool, k.res.Len()), make([]bool, len(k.steps))
	k.EachStackInForce(func(s StackID) {
		for ; s != 0 && !visited[s]; s = k.steps[s].under {
			visited[s] = true
			if id := k.steps[s].node; id != topology.None {
				used[id] = true
			}
		}
	})
	reached := make(map[*policy.Policy]bool, len(k.Policies)) // of those that attach
	note := func(a policy.Attached) { reached[a.Policy] = reached[a.Policy] || used[a.Node] }
	for _, p := range k.Table {
		for _, a := range p.Policies {
			note(a)
		}
	}
	for _, v := range k.Rejected {
		note(v.Attached)
	}
	var out []model.Problem
	for _, p := range k.Policies {
		if by, attached := reached[p]; !attached || by || len(k.Gaps().Of(p)) > 0 {
			continue
		}
		nowhere := model.Problem{Severity: model.Info, Code: model.NotReached,
			Message: fmt.Sprintf("no traffic path reaches the target of %s: it is in force nowhere", p.Ref())}
		if slices.ContainsFunc(k.NodesOf(p), k.res.mayMissPaths) {
			nowhere.Code = model.NotEvaluated
			nowhere.Message = fmt.Sprintf(
				"no traffic path that was read reaches the target of %s; not all that lead there were read", p.Ref())
		}
		out = append(out, nowhere.At(p.Object))
	}
	return out
}

// mayMissPaths reports whether traffic may come to a node by what was not read: by routes, or by the
// parents of its route.
func (r *Resolution) mayMissPaths(id topology.NodeID) bool {
	if int(id) >= r.Graph.Len() {
		return false
	}
	if r.Node(id).Role == topology.Rule {
		id = r.Graph.Parents(topology.All, id)[0]
	}
	return r.Graph.MayMissRoutes(id) || slices.ContainsFunc(r.Graph.Attachments(id),
		func(a topology.Attachment) bool { return a.State == topology.Unknown || a.Missing })
}

// reportUselessUnset reports names in unset lists that deactivate nothing on any path (engine E5).
func (k *pathEngine) reportUselessUnset() []model.Problem {
	lists := map[topology.NodeID]bool{}
	for id, at := range k.Table {
		if slices.ContainsFunc(at.Policies, func(a policy.Attached) bool { return len(a.Policy.Unset) > 0 }) {
			lists[id] = true
		}
	}
	if len(lists) == 0 {
		return nil
	}
	above := map[*policy.Policy]*namesAbove{}
	k.EachStackInForce(func(s StackID) {
		nodes := k.nodesOf(s)
		if !slices.ContainsFunc(nodes, func(id topology.NodeID) bool { return lists[id] }) {
			return
		}
		var higher []*policy.Policy
		for _, id := range nodes {
			for _, a := range k.Table[id].Policies {
				if len(a.Policy.Unset) > 0 {
					if above[a.Policy] == nil {
						above[a.Policy] = &namesAbove{map[string]bool{}, map[string]bool{}}
					}
					above[a.Policy].addPolicies(higher)
				}
				higher = append(higher, a.Policy)
			}
		}
	})
	var out []model.Problem
	for _, p := range k.Policies {
		if h := above[p]; h != nil {
			for _, name := range p.Unset {
				if problem := h.judgeName(p, name); problem != nil {
					out = append(out, *problem)
				}
			}
		}
	}
	return out
}

// namesAbove are the names that policies above one set, by kind of block.
type namesAbove struct{ defaults, overrides map[string]bool }

func (h *namesAbove) addPolicies(higher []*policy.Policy) {
	for _, p := range higher {
		for _, b := range p.Blocks {
			into := h.defaults
			if b.Kind == merge.Overrides {
				into = h.overrides
			}
			for _, u := range b.Units {
				into[u.Path.String()] = true
				// under patch, everything above a leaf has a name too
				for d := 1; d < len(u.Path) && b.Strategy.Cut == merge.Leaves; d++ {
					into[u.Path[:d].String()] = true
				}
			}
		}
	}
}

func (h *namesAbove) judgeName(p *policy.Policy, name string) *model.Problem {
	problem := model.Problem{Severity: model.Info, Code: model.UnsetUnknown,
		Message: fmt.Sprintf("%q is deactivated, but no policy above sets it as a default", name)}
	switch {
	case h.defaults[name]:
		return nil
	case h.overrides[name]:
		problem.Code = model.UnsetHasNoEffect
		problem.Message = fmt.Sprintf("%q is deactivated, but only an override sets it, which cannot be deactivated",
			name)
	default:
		var full []string
		for known := range h.defaults {
			if strings.HasSuffix(known, "."+name) {
				full = append(full, known)
			}
		}
		if len(full) == 1 {
			problem.Hint = "names are whole paths: did you mean " + full[0] + "?"
		}
	}
	problem = problem.At(p.Object)
	for _, field := range p.Kind.Content.Unset {
		if p.Object.Get(append(slices.Clone(p.Kind.Content.At), field)...) != nil {
			origin := p.Object.OriginOf(append(slices.Clone(p.Kind.Content.At), field)...)
			problem.Origin = &origin
		}
	}
	return &problem
}
