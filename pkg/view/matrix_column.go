package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// cellsOnWays are the cells of one kind on the ways to a rule.
type cellsOnWays struct {
	one  *sharedCell   // on all ways, unless they differ
	each []*sharedCell // by way
}

func (c *cellsOnWays) on(way int) *sharedCell {
	if c.each == nil {
		return c.one
	}
	return c.each[way]
}

// onWays is cells, put together if they are all the same.
func onWays(each []*sharedCell) cellsOnWays {
	for _, c := range each {
		if c != each[0] {
			return cellsOnWays{each: each}
		}
	}
	return cellsOnWays{one: each[0]}
}

// changed is cells with another one in the place of each.
func (c cellsOnWays) changed(n int, change func(way int, c *sharedCell) *sharedCell) cellsOnWays {
	each := make([]*sharedCell, n)
	for i := range each {
		each[i] = change(i, c.on(i))
	}
	return onWays(each)
}

// cells are those of the column on ways to a rule, which are all or some of so many. What is blind to the rule leaves open what is in force.
func (c *matrixColumn) cells(id topology.NodeID, ways []resolve.Path, all int, blind string) cellsOnWays {
	out := cellsOnWays{one: c.notApplicable}
	for _, k := range c.scopes {
		of := c.ofKind(k, id, ways, all)
		if out.each == nil && of.each == nil {
			out = cellsOnWays{one: c.union(out.one, of.one)}
			continue
		}
		out = out.changed(len(ways), func(i int, cell *sharedCell) *sharedCell { return c.union(cell, of.on(i)) })
	}
	if len(c.unattached) > 0 {
		out = out.changed(len(ways), func(i int, cell *sharedCell) *sharedCell { return c.named(cell, ways[i]) })
	}
	var unread []string
	for _, k := range c.scopes {
		unread = append(unread, c.maker.res.Unread(k.Gaps().At(id))...)
	}
	if unread == nil && blind == "" {
		return out
	}
	slices.Sort(unread)
	doubt := func(_ int, cell *sharedCell) *sharedCell {
		switch {
		case cell == c.notApplicable:
			return cell
		case unread != nil:
			return c.doubted(cell, "could not be read: "+strings.Join(slices.Compact(unread), ", "))
		case cell.State == CellInForce:
			return c.doubted(cell, blind)
		}
		return cell
	}
	if out.each == nil {
		return cellsOnWays{one: doubt(0, out.one)}
	}
	return out.changed(len(ways), doubt)
}

// open is the cell of a rule to which it is not known whether traffic comes.
func (c *matrixColumn) open(route model.GroupKind, why string) *sharedCell {
	if !slices.ContainsFunc(c.scopes, func(k *resolve.Kind) bool { return k.Passes(route) }) {
		return c.notApplicable
	}
	return c.because(CellUnknown, why)
}

// doubted is a cell of which it is not known whether it is right.
func (c *matrixColumn) doubted(cell *sharedCell, why string) *sharedCell {
	if cell.State == CellUnknown {
		return cell
	}
	key := strconv.Itoa(cell.number) + "?" + why
	if c.bySome[key] == nil {
		out := c.newCell(CellUnknown)
		out.Levels, out.Policies, out.Why = cell.Levels, cell.Policies, why
		c.bySome[key] = out
	}
	return c.bySome[key]
}

// named is the cell of a way on which there is no policy. One that names something there and does not attach is shown.
func (c *matrixColumn) named(cell *sharedCell, way resolve.Path) *sharedCell {
	if cell != c.none {
		return cell
	}
	for _, id := range slices.Backward(way) {
		ref := c.maker.res.Node(id).Ref
		if found := c.unattached[ref]; len(found) > 0 {
			return c.because(CellVoid, found[0].why, found[0].policy)
		}
	}
	return cell
}

// ofKind are the cells of a kind, or of one scope of it.
func (c *matrixColumn) ofKind(k *resolve.Kind, id topology.NodeID, ways []resolve.Path, all int) cellsOnWays {
	n := c.maker.res.Node(id)
	switch {
	case !k.Passes(n.Ref.GroupKind()):
		return cellsOnWays{one: c.notApplicable}
	case !k.InUse():
		return cellsOnWays{one: c.none}
	case !k.ReachesNode(n):
		each := make([]*sharedCell, len(ways))
		for i, way := range ways {
			each[i] = c.above(k, way)
		}
		return onWays(each)
	case k.Scope != nil:
		return cellsOnWays{one: c.scoped(k, id)}
	}
	contexts := k.Contexts(id)
	if len(contexts) == 1 && len(k.Paths(id, contexts[0])) == all {
		return cellsOnWays{one: c.guessed(k, id, contexts[0])}
	}
	stacks := stacksByWay(k, id)
	each := make([]*sharedCell, len(ways))
	for i, way := range ways {
		s, ok := stacks[pathKey(way)]
		switch {
		case ok:
			each[i] = c.guessed(k, id, s)
		case c.idle(k, way):
			each[i] = c.notApplicable
		default:
			each[i] = c.none
		}
	}
	return onWays(each)
}

// stacksByWay tells with which stack each way comes to a node.
func stacksByWay(k *resolve.Kind, id topology.NodeID) map[string]resolve.StackID {
	out := map[string]resolve.StackID{}
	for _, s := range k.Contexts(id) {
		for _, way := range k.Paths(id, s) {
			out[pathKey(way)] = s
		}
	}
	return out
}

// idle reports whether no traffic comes by a way: other listeners of the port have all the hosts of the route.
func (c *matrixColumn) idle(k *resolve.Kind, way resolve.Path) bool {
	g := c.maker.res.Graph
	for i := range way[1:] {
		if g.Node(way[i]).Role != topology.Listener {
			continue
		}
		if owners := g.Owners(way[i], way[i+1], k.Controllers); owners != nil && len(owners) == 0 {
			return true
		}
	}
	return false
}

// guessed is the cell of a stack at a rule. What is in force of a kind without a descriptor may depend on the backends.
func (c *matrixColumn) guessed(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *sharedCell {
	cell := c.ofStack(k, s)
	if !k.Generic() {
		return cell
	}
	for _, p := range k.Guesses().Below(id, s) {
		c.maker.found = append(c.maker.found, p)
		if p.Incomplete() {
			cell = c.doubted(cell, p.Message)
		}
	}
	return cell
}

// above is the cell of a way at whose end the kind has no results: what is in force at the last place before it where the kind has some.
func (c *matrixColumn) above(k *resolve.Kind, way resolve.Path) *sharedCell {
	g := c.maker.res.Graph
	for i := len(way) - 2; i >= 0; i-- {
		if !g.Passes(way[i], way[i+1]) {
			return c.none
		}
		id := way[i]
		if !k.ReachesNode(g.Node(id)) {
			continue
		}
		if k.Scope != nil {
			return c.scoped(k, id)
		}
		at := prefixNode{k, id}
		stacks, known := c.prefixes[at]
		if !known {
			stacks = stacksByWay(k, id)
			c.prefixes[at] = stacks
		}
		if s, ok := stacks[pathKey(way[:i+1])]; ok {
			return c.ofStack(k, s)
		}
		return c.none
	}
	return c.none
}

// scoped is the cell of a node in one scope of a kind, where there may be several results that differ in what they are for.
func (c *matrixColumn) scoped(k *resolve.Kind, id topology.NodeID) *sharedCell {
	out, with, without := c.none, false, false
	for _, s := range k.Contexts(id) {
		cell := c.ofStack(k, s)
		with, without = with || cell.State == CellInForce, without || cell.State != CellInForce
		out = c.union(out, cell)
	}
	if with && without {
		return c.doubted(out, "in force for some of the requests only")
	}
	return out
}
