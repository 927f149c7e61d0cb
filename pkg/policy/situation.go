package policy

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Situator prepares what the fold of a scope has to know of its targets, beside the parts that hold there. It returns nil where the input
// has nothing of the vendor: then nothing is in force without policies.
type Situator func(g *topology.Graph, in *model.Snapshot, s model.Settings) func(target topology.NodeID) *Situation

// Situation is what a fold has to know of its target. Targets with the same key at which the same parts hold share their result.
type Situation struct {
	Key      string
	Builtins []*Policy // what no policy wrote, as layers before those of policies
	Bare     bool      // something is in force even where no policy holds

	// Compare says which of two parts comes first, before the kind's comparator is asked; nil: it alone decides.
	Compare func(a, b *Policy) int

	// Place is the node where a part or a built-in layer stands, and its level.
	Place func(p *Policy) (topology.NodeID, topology.Role)

	// Fold makes the fold of the layers, which are in order: what is built in, then the parts.
	Fold func(layers []*Policy) merge.PlanFunc
}

// NewBuiltin is settings that no policy wrote: what to call them, the object in which they stand and where in it.
func NewBuiltin(label string, o *model.Object, at []string, units []merge.Unit) *Policy {
	return &Policy{Builtin: label, Object: o, at: at, Blocks: []merge.Block{{Kind: merge.Bare, Units: units}}}
}
