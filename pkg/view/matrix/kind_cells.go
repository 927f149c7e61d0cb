package matrix

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// pathCells is the cells of one kind on the paths to a rule.
type pathCells struct {
	common *sharedCell   // on all paths, unless they differ
	byPath []*sharedCell // by way
}

func (c *pathCells) cellOn(way int) *sharedCell {
	if c.byPath == nil {
		return c.common
	}
	return c.byPath[way]
}

// newPathCells returns cells by path, as one if they are all the same.
func newPathCells(each []*sharedCell) pathCells {
	for _, c := range each {
		if c != each[0] {
			return pathCells{byPath: each}
		}
	}
	return pathCells{common: each[0]}
}

// replaceCells returns the cells with each replaced by another.
func (c pathCells) replaceCells(n int, change func(way int, c *sharedCell) *sharedCell) pathCells {
	each := make([]*sharedCell, n)
	for i := range each {
		each[i] = change(i, c.cellOn(i))
	}
	return newPathCells(each)
}

// buildCells returns the cells of the column on paths to a rule, which are all or some of so many.
// notRead says what is not read at the rule and leaves open what is in force; "" for nothing.
func (c *matrixColumn) buildCells(id topology.NodeID, ways []resolve.Path, all int, notRead string) pathCells {
	if c.hasListenerFilters {
		return c.filterCells(ways)
	}
	out := pathCells{common: c.notApplicable}
	for _, k := range c.scopes {
		of := c.cellsOfKind(k, id, ways, all)
		if out.byPath == nil && of.byPath == nil {
			out = pathCells{common: c.joinCells(out.common, of.common)}
			continue
		}
		out = out.replaceCells(len(ways), func(i int, cell *sharedCell) *sharedCell {
			return c.joinCells(cell,
				of.cellOn(i))
		})
	}
	if len(c.unattached) > 0 {
		out = out.replaceCells(len(ways),
			func(i int, cell *sharedCell) *sharedCell { return c.danglingCell(cell, ways[i]) })
	}
	var unread []string
	for _, k := range c.scopes {
		unread = append(unread, c.builder.collector.Resolution.DescribeGaps(k.Gaps().At(id))...)
	}
	if unread == nil && notRead == "" {
		return out
	}
	slices.Sort(unread)
	doubt := func(_ int, cell *sharedCell) *sharedCell {
		switch {
		case cell == c.notApplicable:
			return cell
		case unread != nil:
			return c.unknownCell(cell, "could not be read: "+strings.Join(slices.Compact(unread), ", "))
		case cell.State == CellInForce:
			return c.unknownCell(cell, notRead)
		}
		return cell
	}
	if out.byPath == nil {
		return pathCells{common: doubt(0, out.common)}
	}
	return out.replaceCells(len(ways), doubt)
}

// uncertainCell returns the cell of a rule to which it is not known whether traffic comes.
func (c *matrixColumn) uncertainCell(route model.GroupKind, why string) *sharedCell {
	if !slices.ContainsFunc(c.scopes, func(k *resolve.Kind) bool { return k.PassesRoutes(route) }) {
		return c.notApplicable
	}
	return c.cellWithReason(CellUnknown, why)
}

// unknownCell returns a cell as one of which it is not known whether it is right.
func (c *matrixColumn) unknownCell(cell *sharedCell, why string) *sharedCell {
	if cell.State == CellUnknown {
		return cell
	}
	key := strconv.Itoa(cell.id) + "?" + why
	if c.derived[key] == nil {
		out := c.newCell(CellUnknown)
		out.Levels, out.Policies, out.Why = cell.Levels, cell.Policies, why
		c.derived[key] = out
	}
	return c.derived[key]
}

// danglingCell returns the cell of a path without a policy: a policy that names something on the
// path and does not attach to it is shown.
func (c *matrixColumn) danglingCell(cell *sharedCell, way resolve.Path) *sharedCell {
	if cell != c.none {
		return cell
	}
	for _, id := range slices.Backward(way) {
		ref := c.builder.collector.Resolution.Node(id).Ref
		if found := c.unattached[ref]; len(found) > 0 {
			return c.cellWithReason(CellVoid, found[0].why, found[0].policy)
		}
	}
	return cell
}

// cellsOfKind returns the cells of a kind, or of one scope of it.
func (c *matrixColumn) cellsOfKind(k *resolve.Kind, id topology.NodeID, ways []resolve.Path, all int) pathCells {
	n := c.builder.collector.Resolution.Node(id)
	switch {
	case !k.PassesRoutes(n.Ref.GroupKind()):
		return pathCells{common: c.notApplicable}
	case !k.IsInUse():
		return pathCells{common: c.none}
	case !k.HasResultsAtNode(n):
		each := make([]*sharedCell, len(ways))
		for i, way := range ways {
			each[i] = c.cellAbove(k, way)
		}
		return newPathCells(each)
	case k.Scope != nil:
		return pathCells{common: c.scopedCell(k, id)}
	}
	contexts := k.Contexts(id)
	if len(contexts) == 1 && len(k.Paths(id, contexts[0])) == all {
		return pathCells{common: c.guessedCell(k, id, contexts[0])}
	}
	stacks := stacksByPath(k, id)
	each := make([]*sharedCell, len(ways))
	for i, way := range ways {
		s, ok := stacks[collect.PathKey(way)]
		switch {
		case ok:
			each[i] = c.guessedCell(k, id, s)
		case c.isIdle(k, way):
			each[i] = c.notApplicable
		default:
			each[i] = c.none
		}
	}
	return newPathCells(each)
}

// stacksByPath returns the stack that comes to a node on each path.
func stacksByPath(k *resolve.Kind, id topology.NodeID) map[string]resolve.StackID {
	out := map[string]resolve.StackID{}
	for _, s := range k.Contexts(id) {
		for _, way := range k.Paths(id, s) {
			out[collect.PathKey(way)] = s
		}
	}
	return out
}

// isIdle reports whether no traffic comes on a path: other listeners of the port have all the hosts
// of the route.
func (c *matrixColumn) isIdle(k *resolve.Kind, way resolve.Path) bool {
	g := c.builder.collector.Resolution.Graph
	for i := range way[1:] {
		if g.Node(way[i]).Role != topology.Listener {
			continue
		}
		if owners := g.HostOwners(way[i], way[i+1], k.Controllers); owners != nil && len(owners) == 0 {
			return true
		}
	}
	return false
}

// guessedCell returns the cell of a stack at a rule. What is in force of a kind without a
// descriptor may depend on the backends.
func (c *matrixColumn) guessedCell(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *sharedCell {
	cell := c.cellOfStack(k, s)
	if !k.IsGeneric() {
		return cell
	}
	for _, p := range k.Guesses().Below(id, s) {
		c.builder.collector.AddProblems(p)
		if p.IsIncomplete() {
			cell = c.unknownCell(cell, p.Message)
		}
	}
	return cell
}

// cellAbove returns the cell of a path at whose end the kind has no results: what is in force at
// the last place before the end where the kind has some.
func (c *matrixColumn) cellAbove(k *resolve.Kind, way resolve.Path) *sharedCell {
	g := c.builder.collector.Resolution.Graph
	for i := len(way) - 2; i >= 0; i-- {
		if !g.PassesPolicies(way[i], way[i+1]) {
			return c.none
		}
		id := way[i]
		if !k.HasResultsAtNode(g.Node(id)) {
			continue
		}
		if k.Scope != nil {
			return c.scopedCell(k, id)
		}
		at := prefixNode{k, id}
		stacks, known := c.stacksAbove[at]
		if !known {
			stacks = stacksByPath(k, id)
			c.stacksAbove[at] = stacks
		}
		if s, ok := stacks[collect.PathKey(way[:i+1])]; ok {
			return c.cellOfStack(k, s)
		}
		return c.none
	}
	return c.none
}

// scopedCell returns the cell of a node in one scope of a kind, where there may be several results
// that differ in the requests they are for.
func (c *matrixColumn) scopedCell(k *resolve.Kind, id topology.NodeID) *sharedCell {
	out, with, without := c.none, false, false
	for _, s := range k.Contexts(id) {
		cell := c.cellOfStack(k, s)
		with, without = with || cell.State == CellInForce, without || cell.State != CellInForce
		out = c.joinCells(out, cell)
	}
	if with && without {
		return c.unknownCell(out, "in force for some of the requests only")
	}
	return out
}
