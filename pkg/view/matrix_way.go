package view

import (
	"encoding/binary"
	"fmt"
	"slices"
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
	by    *Protection
	ways  []resolve.Path
	paths []Path // that are not ways of the graph
}

// openWay is a parent of a route of which it is not known whether traffic comes through it.
type openWay struct {
	paths []Path // none: it is not even known which parent that would be
	why   string

	parent    model.Ref
	forbidden bool // the parent may not be read
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
		way := openWay{why: a.Reason, forbidden: a.Missing && a.State == topology.Unknown, parent: a.Parent.WithoutSection()}
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
	if rule.Kind == "HTTPRoute" && m.res.Graph.MayHandOver() {
		return []openWay{{why: "ReferenceGrants could not be read, with which another route may hand over to the route"}}
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
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: openHint,
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
	by := make([]*Protection, len(ways))
	for i, way := range ways {
		by[i] = m.protector.of(id, way)
		alike = alike && by[i] == by[0]
	}
	if alike {
		rows.add(pick(columns, 0), cellRow{ways: ways, by: by[0]})
		return
	}
	for i := range ways {
		rows.add(pick(columns, i), cellRow{ways: ways[i : i+1 : i+1], by: by[i]})
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
	key := binary.AppendUvarint(nil, uint64(row.by.number))
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
		r.add(cells, cellRow{paths: open.paths, by: m.protector.open(ref, &open)})
	}
	out := make([]MatrixRow, len(r.list))
	for i, row := range r.list {
		paths := m.paths(row.ways)
		if len(row.paths) > 0 {
			paths = inOrder(append(slices.Clone(paths), row.paths...))
		}
		out[i] = MatrixRow{Target: ref, Paths: paths, Cells: make([]MatrixCell, len(row.cells)), Protection: row.by}
		for c, cell := range row.cells {
			out[i].Cells[c] = cell.MatrixCell
		}
	}
	return out
}
