package view

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rule adds the rows of one route rule. It has several nodes where other routes hand over to its route.
func (m *matrixMaker) rule(ref model.Ref, ids ...topology.NodeID) {
	var rows matrixRows
	transit := true
	for _, id := range ids {
		if m.res.Node(id).Transit {
			continue
		}
		transit = false
		all := m.ways.traffic(id)
		ways := all
		if m.query.Through != nil && !m.asksFor(id) {
			ways = slices.DeleteFunc(slices.Clone(all), func(w resolve.Path) bool { return !m.passes(w) })
		} else {
			rows.open = append(rows.open, m.openWays(id)...)
		}
		if len(ways) > 0 {
			m.addWays(&rows, id, ways, len(all))
		}
	}
	if !transit && len(rows.list)+len(rows.open) == 0 {
		rows.open = m.unseenWays(ref, ids)
	}
	switch {
	case transit:
	case len(rows.list)+len(rows.open) == 0:
		m.out.Idle = append(m.out.Idle, ref)
	default:
		m.addRows(rows.finish(m, ref))
	}
}

// asksFor reports whether a rule, or its route, was asked for itself.
func (m *matrixMaker) asksFor(rule topology.NodeID) bool {
	return m.asked[rule] || slices.ContainsFunc(m.res.Graph.Parents(topology.All, rule), func(id topology.NodeID) bool { return m.asked[id] })
}

// matrixRows gathers the rows of a rule.
type matrixRows struct {
	list []cellRow
	at   map[string]int // the number of a row, by its cells
	open []openWay
}

// cellRow is ways on which the cells of a rule are the same.
type cellRow struct {
	cells []*sharedCell
	ways  []resolve.Path
	paths []Path // that are not ways of the graph
}

// openWay is a parent of a route of which it is not known whether traffic comes through it.
type openWay struct {
	paths []Path // none: it is not even known which parent that would be
	why   string
}

// openWays are those of the route of a rule.
func (m *matrixMaker) openWays(rule topology.NodeID) []openWay {
	parents := m.res.Graph.Parents(topology.All, rule)
	if len(parents) == 0 || m.res.Node(rule).Hop > 0 { // what routes hand over does not come by parentRefs
		return nil
	}
	var out []openWay
	for _, a := range m.attachments(parents[0]) {
		if a.State != topology.Unknown && !a.Missing {
			continue
		}
		way := openWay{why: a.Reason}
		section := a.Parent.Section
		if a.Listener != topology.None {
			section = m.res.Node(a.Listener).Ref.Section
		}
		switch {
		case topology.IsListenerSet(a.Parent.GroupKind()):
			way.paths = []Path{{ListenerSet: a.Parent.FullName(), Listener: section}}
		case topology.MeshParent(a.Parent.GroupKind()):
			way.paths = []Path{{Destination: targetName(a.Parent)}}
		default:
			way.paths = []Path{{Gateway: a.Parent.FullName(), Listener: section}}
		}
		out = append(out, way)
	}
	return out
}

// unseenWays is for rules that no known way leads to: there may be one by a Gateway or a route that is not in the input.
func (m *matrixMaker) unseenWays(rule model.Ref, ids []topology.NodeID) []openWay {
	for _, id := range ids {
		if parents := m.res.Graph.Parents(topology.All, id); len(parents) > 0 && m.res.Graph.AsksForDefaults(parents[0]) {
			return []openWay{{why: "the route asks for default Gateways, and the input has none that takes it"}}
		}
	}
	if cluster := m.res.Snapshot.Cluster; cluster != nil && cluster.MissesAny(rule.GroupKind()) {
		unread := m.res.Unread([]resolve.Gap{{Kind: rule.GroupKind()}})
		return []openWay{{why: "could not be read: " + strings.Join(unread, ", ") + ", which may hand over to the route"}}
	}
	return nil
}

// leftOpen notes that it is not known whether traffic comes to a rule.
func (m *matrixMaker) leftOpen(rule model.Ref, why string) {
	if len(m.columns) == 0 {
		return
	}
	if m.open == nil {
		m.open = map[string]*model.Tally{}
	}
	if m.open[why] == nil {
		m.open[why] = &model.Tally{}
	}
	m.open[why].Add(targetName(rule))
}

// openProblems says what leaves rules open.
func (m *matrixMaker) openProblems() []model.Problem {
	var out []model.Problem
	for why, rules := range m.open {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: "also read the manifests that have it (-f), or ask the cluster",
			Message: fmt.Sprintf("cannot tell who governs %s (%s): %s", Counted(rules.N, "route rule"), rules, why)})
	}
	return out
}

// addWays sorts the ways to a node, all of them or some of so many, into rows.
func (m *matrixMaker) addWays(rows *matrixRows, id topology.NodeID, ways []resolve.Path, all int) {
	columns, alike := make([]cellsOnWays, len(m.columns)), true
	blind := m.blindTo(id)
	for i, c := range m.columns {
		columns[i] = c.cells(id, ways, all, blind)
		alike = alike && columns[i].each == nil
	}
	if alike {
		rows.add(pick(columns, 0), cellRow{ways: ways})
		return
	}
	for i := range ways {
		rows.add(pick(columns, i), cellRow{ways: ways[i : i+1 : i+1]})
	}
}

// unreadThings is what is not read at a node or above it: the first thing, and whether there are others.
type unreadThings struct {
	first  *resolve.BlindSpot
	number int // its position among all
	others bool
}

func (u *unreadThings) add(other unreadThings) {
	switch {
	case other.first == nil:
	case u.first == nil:
		*u = other
	default:
		u.others = u.others || other.others || u.first != other.first
		if other.number < u.number {
			u.first, u.number = other.first, other.number
		}
	}
}

// findBlind notes where something is not read that may change what is in force. What only takes requests in the place of rules does not.
func (m *matrixMaker) findBlind() {
	for i, s := range m.res.BlindSpots() {
		if len(s.Hangs) > 0 {
			continue
		}
		if m.blindAt == nil {
			m.blindAt, m.blindOver = map[topology.NodeID]unreadThings{}, map[topology.NodeID]unreadThings{}
		}
		for _, id := range s.At {
			at := m.blindAt[id]
			at.add(unreadThings{first: s, number: i})
			m.blindAt[id] = at
		}
	}
}

// blindTo says what is not read and may change what is in force at a rule.
func (m *matrixMaker) blindTo(rule topology.NodeID) string {
	if m.blindAt == nil {
		return ""
	}
	found := m.blindAbove(rule)
	switch {
	case found.first == nil:
		return ""
	case found.others:
		return found.first.Problem().Message + "; and more"
	}
	return found.first.Problem().Message
}

// blindAbove is what is not read at a node and above it.
func (m *matrixMaker) blindAbove(id topology.NodeID) unreadThings {
	if known, ok := m.blindOver[id]; ok {
		return known
	}
	out := m.blindAt[id]
	m.blindOver[id] = out // should there be a circle
	for _, over := range m.res.Graph.Over(id) {
		out.add(m.blindAbove(over))
	}
	m.blindOver[id] = out
	return out
}

// pick are the cells on one of the ways.
func pick(columns []cellsOnWays, way int) []*sharedCell {
	out := make([]*sharedCell, len(columns))
	for i := range columns {
		out[i] = columns[i].on(way)
	}
	return out
}

// add puts ways on which the cells are the same into one row.
func (r *matrixRows) add(cells []*sharedCell, row cellRow) {
	var key []byte
	for _, c := range cells {
		key = binary.AppendUvarint(key, uint64(c.number))
	}
	at, known := r.at[string(key)]
	if !known {
		if r.at == nil {
			r.at = map[string]int{}
		}
		r.at[string(key)] = len(r.list)
		row.cells = cells
		r.list = append(r.list, row)
		return
	}
	same := &r.list[at]
	same.ways = append(same.ways[:len(same.ways):len(same.ways)], row.ways...)
	same.paths = append(same.paths, row.paths...)
}

// finish is the rows in the shape of the contract.
func (r *matrixRows) finish(m *matrixMaker, ref model.Ref) []MatrixRow {
	for _, open := range r.open {
		m.leftOpen(ref, open.why)
		cells := make([]*sharedCell, len(m.columns))
		for i, c := range m.columns {
			cells[i] = c.open(ref.GroupKind(), open.why)
		}
		r.add(cells, cellRow{paths: open.paths})
	}
	out := make([]MatrixRow, len(r.list))
	for i, row := range r.list {
		paths := m.paths(row.ways)
		if len(row.paths) > 0 {
			paths = inOrder(append(slices.Clone(paths), row.paths...))
		}
		out[i] = MatrixRow{Target: ref, Paths: paths, Cells: make([]MatrixCell, len(row.cells))}
		for c, cell := range row.cells {
			out[i].Cells[c] = cell.MatrixCell
		}
	}
	return out
}

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
