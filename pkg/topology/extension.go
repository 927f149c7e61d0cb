package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// NodeUse says where a node comes into play for some: what a caller in By sends to At is treated by
// the node. Nodes with uses that have nothing of their own take what holds there.
type NodeUse struct {
	At NodeID
	By []NodeID // sorted; shared between uses, and not to be changed
}

// IsFor reports whether the node is a caller for whom the use is.
func (u NodeUse) IsFor(id NodeID) bool {
	_, ok := slices.BinarySearch(u.By, id)
	return ok
}

// ExtraNodes lists the further nodes of an object or a section that extensions made.
func (g *Graph) ExtraNodes(ref model.Ref) []NodeID { return g.nodes.extra[ref] }

// Uses lists where a node comes into play, sorted by place.
func (g *Graph) Uses(id NodeID) []NodeUse { return g.parts.Uses[id] }
