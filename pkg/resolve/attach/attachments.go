package attach

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Attachments are the targets of the policies of a kind, and who keeps whom out there.
type Attachments struct {
	Policies []*policy.Policy // sorted by reference
	Rejected []Rejection

	seesNamespace     func(namespace string) bool // the namespaces that the implementation sees; nil: all
	Table             map[topology.NodeID]Entry
	RejectedAt        map[topology.NodeID][]Rejection
	targetLists       []TargetList                         // by the position of a policy
	refusedAncestors  map[*policy.Policy][]model.Ref       // ancestors that a policy is refused for
	backendRules      map[*policy.Policy][]topology.NodeID // the rules with a backendRef that names it
	TargetsBesidePath bool                                 // some policy targets a namespace or a backend
}

// TargetList is what the references of a policy lead to.
type TargetList struct {
	policy     *policy.Policy
	Nodes      []topology.NodeID
	followed   bool  // somebody has looked where its references lead
	unresolved []int // the references that lead to no target, once they are followed
}

// Attach attaches the policies to targets, and finds which of several at one target stay. unread
// describes what may not be read of the objects that a reference may be to.
func (k *Attachments) Attach(to *Targets, kind *policy.Kind, unread func(policy.TargetRef) []string) {
	a := &attacher{Kind: kind, Attachments: k, res: to, unread: unread}
	a.attachAll()
	targetContest{Kind: kind, Attachments: k, res: to}.rejectLosers()
	a.judgeWinners()
}

// MakeRoom makes room for the targets of the policies of the kind.
func (k *Attachments) MakeRoom(policies []*policy.Policy) {
	k.targetLists = make([]TargetList, len(policies))
	for i, p := range policies {
		k.targetLists[i].policy = p
	}
}

// SortNodes brings the nodes into their order, each once.
func (t *TargetList) SortNodes() {
	slices.Sort(t.Nodes)
	t.Nodes = slices.Compact(t.Nodes)
}

// TargetListOf returns what the references of a policy lead to; nil if it is none of the kind's.
func (k *Attachments) TargetListOf(p *policy.Policy) *TargetList {
	if i := p.Position; i < len(k.targetLists) && k.targetLists[i].policy == p {
		return &k.targetLists[i]
	}
	return nil
}

// NodesOf lists the nodes to which the policy is attached, sorted. The list is not to be changed.
func (k *Attachments) NodesOf(p *policy.Policy) []topology.NodeID {
	if t := k.TargetListOf(p); t != nil {
		return t.Nodes
	}
	return nil
}

// TargetsOf lists the nodes to which the policy is attached, sorted.
func (k *Attachments) TargetsOf(p *policy.Policy) []topology.NodeID {
	return slices.Clone(k.NodesOf(p))
}

// PoliciesAt lists the policies at a node, established first; those that another one keeps out come
// last.
func (k *Attachments) PoliciesAt(id topology.NodeID) []*policy.Policy {
	var out []*policy.Policy
	for _, a := range k.Table[id].Policies {
		out = append(out, a.Policy)
	}
	for _, v := range k.RejectedAt[id] {
		out = append(out, v.Attached.Policy)
	}
	return out
}

// StaysAt reports whether a policy stays at one of its targets: no other one keeps it out there.
func (k *Attachments) StaysAt(p *policy.Policy, id topology.NodeID) bool {
	return !slices.ContainsFunc(k.RejectedAt[id], func(v Rejection) bool { return v.Attached.Policy == p }) ||
		slices.ContainsFunc(k.Table[id].Policies, func(a policy.Attached) bool { return a.Policy == p })
}

// HasTarget reports whether the policy's i-th reference led to a target.
func (k *Attachments) HasTarget(p *policy.Policy, i int) bool {
	t := k.TargetListOf(p)
	return t != nil && t.followed && i < len(p.Refs) && !slices.Contains(t.unresolved, i)
}

// BackendRules lists the rules with a backendRef of which a filter names the policy, those on ways
// that other routes hand over included.
func (k *Attachments) BackendRules(p *policy.Policy) []topology.NodeID { return k.backendRules[p] }

// RefusedAncestors lists the ancestors that a policy is refused for because its status has no room
// for them.
func (k *Attachments) RefusedAncestors(p *policy.Policy) []model.Ref { return k.refusedAncestors[p] }

// SeesNamespace reports whether the implementation sees the objects of a namespace.
func (k *Attachments) SeesNamespace(namespace string) bool {
	return k.seesNamespace == nil || namespace == "" || k.seesNamespace(namespace)
}

// SeesAll reports whether the implementation sees every namespace.
func (k *Attachments) SeesAll() bool { return k.seesNamespace == nil }

// IsUnattached reports whether no policy is attached anywhere, nor named by a backendRef.
func (k *Attachments) IsUnattached() bool {
	return len(k.Table)+len(k.backendRules) == 0
}

// Entry is what is attached to one node, established first.
type Entry struct {
	Policies   []policy.Attached
	AgeIgnored bool
	Void       string // why nothing of the kind is in force here and below; "": nothing says so
}

// Rejection is a policy that another one on the same target keeps out whole (engine E8).
type Rejection struct {
	Attached policy.Attached
	By       *policy.Policy
	Decision merge.Decision // what put the other policy first
	Silent   bool           // the kind reports nothing about it
}
