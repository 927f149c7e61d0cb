package policy

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Attacher finds the targets of a policy by an algorithm of its vendor. The Ref of what it returns
// is -1 where no reference of the policy led there.
type Attacher func(p *Policy, g *topology.Graph, in *model.Snapshot, s model.Settings) ([]Attached, []model.Problem)

// Search prepares, once for an input, the search for targets by an algorithm of its vendor: what it
// has to know of all objects is read once, and not for every policy again, as an Attacher would
// have to.
type Search func(g *topology.Graph, in *model.Snapshot, s model.Settings) Finder

// Finder finds the targets of the policies of one kind.
type Finder struct {
	// Find is where a policy is attached. The Ref of what it returns is -1 where no reference of
	// the policy led there.
	Find func(p *Policy) ([]Attached, []model.Problem)
	// Apart is where a policy without an attachment has a part all the same, or might be expected
	// and has none; asked for one policy at a time. nil: nothing is known of that.
	FindUnattached func(p *Policy) []UnattachedTarget
}

// UnattachedTarget is a target to which a policy is not attached, with what there is to say about
// it.
type UnattachedTarget struct {
	Node    topology.NodeID
	InForce bool   // it has a part there: it brings other policies
	Why     string // one plain sentence
}
