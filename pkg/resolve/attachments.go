package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// attachments are the targets of the policies of a kind, and who keeps whom out there.
type attachments struct {
	attached   map[topology.NodeID]nodePolicies
	rejectedAt map[topology.NodeID][]Rejection
	held       []targetList                         // by the position of a policy
	overLimit  map[*policy.Policy][]model.Ref       // ancestors that a policy is refused for
	byBackend  map[*policy.Policy][]topology.NodeID // the rules with a backendRef that names it
	beside     bool                                 // some policy targets a namespace or a backend
}

// targetList is what the references of a policy lead to.
type targetList struct {
	policy   *policy.Policy
	nodes    []topology.NodeID
	followed bool  // somebody has looked where its references lead
	astray   []int // the references that lead to no target, once they are followed
}

// expect makes room for the targets of the policies of the kind.
func (k *attachments) expect(policies []*policy.Policy) {
	k.held = make([]targetList, len(policies))
	for i, p := range policies {
		k.held[i].policy = p
	}
}

// sort brings the nodes into their order, each once.
func (t *targetList) sort() {
	slices.Sort(t.nodes)
	t.nodes = slices.Compact(t.nodes)
}

// of is what the references of a policy lead to; nil if it is none of the kind's.
func (k *attachments) of(p *policy.Policy) *targetList {
	if i := p.Position; i < len(k.held) && k.held[i].policy == p {
		return &k.held[i]
	}
	return nil
}

// targetsOf lists the nodes to which the policy is attached, sorted. The list is not to be changed.
func (k *attachments) targetsOf(p *policy.Policy) []topology.NodeID {
	if t := k.of(p); t != nil {
		return t.nodes
	}
	return nil
}

// TargetsOf lists the nodes to which the policy is attached, sorted.
func (k *attachments) TargetsOf(p *policy.Policy) []topology.NodeID {
	return slices.Clone(k.targetsOf(p))
}

// At lists the policies at a node, established first; those that another one keeps out come last.
func (k *attachments) At(id topology.NodeID) []*policy.Policy {
	var out []*policy.Policy
	for _, a := range k.attached[id].policies {
		out = append(out, a.Policy)
	}
	for _, v := range k.rejectedAt[id] {
		out = append(out, v.Attached.Policy)
	}
	return out
}

// Keeps reports whether a policy stays at one of its targets: no other one keeps it out there.
func (k *attachments) Keeps(p *policy.Policy, id topology.NodeID) bool {
	return !slices.ContainsFunc(k.rejectedAt[id], func(v Rejection) bool { return v.Attached.Policy == p }) ||
		slices.ContainsFunc(k.attached[id].policies, func(a policy.Attached) bool { return a.Policy == p })
}

// Attaches reports whether the policy's i-th reference led to a target.
func (k *attachments) Attaches(p *policy.Policy, i int) bool {
	t := k.of(p)
	return t != nil && t.followed && i < len(p.Refs) && !slices.Contains(t.astray, i)
}

// ByBackend lists the rules with a backendRef of which a filter names the policy, those on ways that other routes hand over included.
func (k *attachments) ByBackend(p *policy.Policy) []topology.NodeID { return k.byBackend[p] }

// OverLimit lists the ancestors that a policy is refused for because its status has no room for them.
func (k *attachments) OverLimit(p *policy.Policy) []model.Ref { return k.overLimit[p] }

// Via are the ways by which a policy itself comes to a node, of those on which a stack holds there.
func (k *attachments) Via(p *policy.Policy, id topology.NodeID, ways []Path) []Path {
	at := k.attached[id].policies
	i := slices.IndexFunc(at, func(a policy.Attached) bool { return a.Policy == p })
	if i < 0 || at[i].Here == nil || at[i].Here.Via == nil {
		return ways
	}
	return slices.DeleteFunc(slices.Clone(ways), func(w Path) bool { return len(w) < 2 || !slices.Contains(at[i].Here.Via, w[len(w)-2]) })
}
