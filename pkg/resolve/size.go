package resolve

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// CountSettings returns how many settings policies write, counted at every target that they may be in
// force at, and there for each way of traffic on which they differ. It stops above limit, and nothing is
// merged for it: settings that lose count too.
func (r *Resolution) CountSettings(limit int) int {
	total := 0
	for _, k := range r.Kinds {
		if !k.IsInUse() || k.engine == nil {
			continue
		}
		sizes := k.engine.countSettings()
		for id, stacks := range k.contexts {
			if !k.HasResultsAtNode(r.Node(topology.NodeID(id))) {
				continue
			}
			for _, s := range stacks {
				if total += sizes[s]; total > limit {
					return total
				}
			}
		}
	}
	return total
}

func (k *pathEngine) countSettings() []int {
	sizes := make([]int, len(k.steps))
	for s, step := range k.steps {
		if s == 0 {
			continue
		}
		sizes[s] = sizes[step.under] // made before it
		for _, a := range k.Table[step.node].Policies {
			sizes[s] += 1 + countUnits(a.Policy.Blocks)
		}
	}
	return sizes
}

func (k *scopeEngine) countSettings() []int {
	sizes := make([]int, len(k.stacks))
	for s, parts := range k.stacks {
		for _, at := range parts {
			sizes[s] += 1 + countUnits(k.parts[at].Policy.Blocks)
		}
	}
	return sizes
}

func countUnits(blocks []merge.Block) (n int) {
	for i := range blocks {
		n += len(blocks[i].Units)
	}
	return n
}
