package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// attachments are the targets of the policies of a kind, and who keeps whom out there.
type attachments struct {
	Policies []*policy.Policy // sorted by reference
	Rejected []Rejection

	seesNamespace     func(namespace string) bool // the namespaces that the implementation sees; nil: all
	attached          map[topology.NodeID]nodePolicies
	rejectedAt        map[topology.NodeID][]Rejection
	targetLists       []targetList                         // by the position of a policy
	refusedAncestors  map[*policy.Policy][]model.Ref       // ancestors that a policy is refused for
	backendRules      map[*policy.Policy][]topology.NodeID // the rules with a backendRef that names it
	targetsBesidePath bool                                 // some policy targets a namespace or a backend
}

// targetList is what the references of a policy lead to.
type targetList struct {
	policy     *policy.Policy
	nodes      []topology.NodeID
	followed   bool  // somebody has looked where its references lead
	unresolved []int // the references that lead to no target, once they are followed
}

// attach attaches the policies to targets, and finds which of several at one target stay. unread
// describes what may not be read of the objects that a reference may be to.
func (k *attachments) attach(to *Targets, kind *policy.Kind, unread func(policy.TargetRef) []string) {
	(&attacher{Kind: kind, attachments: k, res: to, unread: unread}).attachAll()
	targetContest{kind, k, to}.rejectLosers()
}

// makeRoom makes room for the targets of the policies of the kind.
func (k *attachments) makeRoom(policies []*policy.Policy) {
	k.targetLists = make([]targetList, len(policies))
	for i, p := range policies {
		k.targetLists[i].policy = p
	}
}

// sortNodes brings the nodes into their order, each once.
func (t *targetList) sortNodes() {
	slices.Sort(t.nodes)
	t.nodes = slices.Compact(t.nodes)
}

// targetListOf returns what the references of a policy lead to; nil if it is none of the kind's.
func (k *attachments) targetListOf(p *policy.Policy) *targetList {
	if i := p.Position; i < len(k.targetLists) && k.targetLists[i].policy == p {
		return &k.targetLists[i]
	}
	return nil
}

// targetsOf lists the nodes to which the policy is attached, sorted. The list is not to be changed.
func (k *attachments) targetsOf(p *policy.Policy) []topology.NodeID {
	if t := k.targetListOf(p); t != nil {
		return t.nodes
	}
	return nil
}

// TargetsOf lists the nodes to which the policy is attached, sorted.
func (k *attachments) TargetsOf(p *policy.Policy) []topology.NodeID {
	return slices.Clone(k.targetsOf(p))
}

// PoliciesAt lists the policies at a node, established first; those that another one keeps out come
// last.
func (k *attachments) PoliciesAt(id topology.NodeID) []*policy.Policy {
	var out []*policy.Policy
	for _, a := range k.attached[id].policies {
		out = append(out, a.Policy)
	}
	for _, v := range k.rejectedAt[id] {
		out = append(out, v.Attached.Policy)
	}
	return out
}

// StaysAt reports whether a policy stays at one of its targets: no other one keeps it out there.
func (k *attachments) StaysAt(p *policy.Policy, id topology.NodeID) bool {
	return !slices.ContainsFunc(k.rejectedAt[id], func(v Rejection) bool { return v.Attached.Policy == p }) ||
		slices.ContainsFunc(k.attached[id].policies, func(a policy.Attached) bool { return a.Policy == p })
}

// HasTarget reports whether the policy's i-th reference led to a target.
func (k *attachments) HasTarget(p *policy.Policy, i int) bool {
	t := k.targetListOf(p)
	return t != nil && t.followed && i < len(p.Refs) && !slices.Contains(t.unresolved, i)
}

// BackendRules lists the rules with a backendRef of which a filter names the policy, those on ways
// that other routes hand over included.
func (k *attachments) BackendRules(p *policy.Policy) []topology.NodeID { return k.backendRules[p] }

// RefusedAncestors lists the ancestors that a policy is refused for because its status has no room
// for them.
func (k *attachments) RefusedAncestors(p *policy.Policy) []model.Ref { return k.refusedAncestors[p] }

// SeesNamespace reports whether the implementation sees the objects of a namespace.
func (k *attachments) SeesNamespace(namespace string) bool {
	return k.seesNamespace == nil || namespace == "" || k.seesNamespace(namespace)
}

// SeesAll reports whether the implementation sees every namespace.
func (k *attachments) SeesAll() bool { return k.seesNamespace == nil }

// isUnattached reports whether no policy is attached anywhere, nor named by a backendRef.
func (k *attachments) isUnattached() bool {
	return len(k.attached)+len(k.backendRules) == 0
}
