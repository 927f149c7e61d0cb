package matrix

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
)

// addRule adds the rows of one route rule. It has several nodes where other routes delegate to its
// route.
func (m *matrixBuilder) addRule(ref model.Ref, ids ...topology.NodeID) {
	var rows matrixRows
	transit := true
	for _, id := range ids {
		if m.collector.Resolution.Node(id).Delegates {
			continue
		}
		transit = false
		all := m.paths.To(id)
		ways := all
		if m.collector.Query.Through != nil && !m.asksFor(id) {
			ways = slices.DeleteFunc(slices.Clone(all),
				func(w resolve.Path) bool { return !m.collector.GoesThrough(w) })
		} else {
			rows.uncertain = append(rows.uncertain, m.uncertainPaths(id)...)
		}
		if len(ways) > 0 {
			m.addPaths(&rows, id, ways, len(all))
		}
	}
	if !transit && len(rows.list)+len(rows.uncertain) == 0 {
		rows.uncertain = m.unseenPaths(ref, ids)
	}
	switch {
	case transit:
	case len(rows.list)+len(rows.uncertain) == 0:
		m.out.Idle = append(m.out.Idle, ref)
	default:
		m.addRows(rows.buildRows(m, ref))
	}
}

// asksFor reports whether a rule, or its route, was asked for itself.
func (m *matrixBuilder) asksFor(rule topology.NodeID) bool {
	return m.collector.AsksFor(rule) || slices.ContainsFunc(m.collector.Resolution.Graph.Parents(topology.All, rule),
		m.collector.AsksFor)
}

// matrixRows gathers the rows of a rule.
type matrixRows struct {
	list      []cellRow
	index     map[string]int // the number of a row, by its cells
	uncertain []uncertainPath
}

// cellRow is paths on which the cells of a rule are the same.
type cellRow struct {
	cells      []*sharedCell
	protection *protection.Protection
	nodePaths  []resolve.Path
	paths      []view.Path // that are no paths of the graph
}

// uncertainPath is a parent of a route of which it is not known whether traffic comes through it.
type uncertainPath struct {
	paths []view.Path // none: it is not even known which parent that would be
	why   string

	parent    model.Ref
	forbidden bool // the parent may not be read
}

// reasonAt says why it is not known what a rule is protected by on the path.
func (u *uncertainPath) reasonAt(rule model.Ref) protect.Reason {
	if u.forbidden {
		return protect.ForbiddenReason(u.parent)
	}
	return protect.Reason{Code: gate.MissingObject, Object: &rule, Message: u.why}
}

// uncertainPaths returns those of the route of a rule.
func (m *matrixBuilder) uncertainPaths(rule topology.NodeID) []uncertainPath {
	parents := m.collector.Resolution.Graph.Parents(topology.All, rule)
	// a route that others delegate to gets its traffic without parentRefs
	if len(parents) == 0 || m.collector.Resolution.Node(rule).Hop > 0 {
		return nil
	}
	var out []uncertainPath
	for _, a := range m.collector.AttachmentsOf(parents[0]) {
		if a.State != topology.Unknown && !a.Missing {
			continue
		}
		way := uncertainPath{why: a.Reason, forbidden: a.Missing && a.State == topology.Unknown,
			parent: a.Parent.WithoutSection()}
		section := a.Parent.Section
		if a.Listener != topology.None {
			section = m.collector.Resolution.Node(a.Listener).Ref.Section
		}
		switch {
		case gatewayapi.IsListenerSet(a.Parent.GroupKind()):
			way.paths = []view.Path{{ListenerSet: a.Parent.FullName(), Listener: section}}
		case gatewayapi.IsMeshParent(a.Parent.GroupKind()):
			way.paths = []view.Path{{Destination: view.FormatPathObject(a.Parent)}}
		default:
			way.paths = []view.Path{{Gateway: a.Parent.FullName(), Listener: section}}
		}
		out = append(out, way)
	}
	return out
}

// unseenPaths is for rules that no known path leads to: there may be one by a Gateway or a route
// that is not in the input.
func (m *matrixBuilder) unseenPaths(rule model.Ref, ids []topology.NodeID) []uncertainPath {
	for _, id := range ids {
		if parents := m.collector.Resolution.Graph.Parents(topology.All, id); len(parents) > 0 &&
			m.collector.Resolution.Graph.WantsDefaultGateways(parents[0]) {
			return []uncertainPath{{why: "the route asks for default Gateways, and the input has none that takes it"}}
		}
	}
	if cluster := m.collector.Resolution.Snapshot.Cluster; cluster != nil && cluster.HasUnread(rule.GroupKind()) {
		unread := m.collector.Resolution.DescribeGaps([]resolve.Gap{{Kind: rule.GroupKind()}})
		return []uncertainPath{{why: "could not be read: " + strings.Join(unread, ", ") +
			", which may hand over to the route"}}
	}
	if rule.Kind == "HTTPRoute" && m.collector.Resolution.Graph.MayDelegate() {
		return []uncertainPath{
			{why: "ReferenceGrants could not be read, with which another route may hand over to the route"}}
	}
	return nil
}

// addUncertainRule notes that it is not known whether traffic comes to a rule.
func (m *matrixBuilder) addUncertainRule(rule model.Ref, why string) {
	if len(m.columns) == 0 {
		return
	}
	if m.uncertainRules == nil {
		m.uncertainRules = map[string]*model.Tally{}
	}
	if m.uncertainRules[why] == nil {
		m.uncertainRules[why] = &model.Tally{}
	}
	m.uncertainRules[why].Add(rule.String())
}

// uncertainProblems returns the problems about rules of which it is not known who governs them.
func (m *matrixBuilder) uncertainProblems() []model.Problem {
	var out []model.Problem
	for why, rules := range m.uncertainRules {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Hint: view.MissingObjectHint(m.collector.Resolution.Snapshot),
			Message: fmt.Sprintf("cannot tell who governs %s (%s): %s", view.FormatCount(rules.Count, "route rule"),
				rules, why)})
	}
	return out
}

// addPaths sorts the paths to a node, all of them or some of so many, into rows.
func (m *matrixBuilder) addPaths(rows *matrixRows, id topology.NodeID, ways []resolve.Path, all int) {
	columns, alike := make([]pathCells, len(m.columns)), true
	blind := m.unreadReason(id)
	for i, c := range m.columns {
		columns[i] = c.buildCells(id, ways, all, blind)
		alike = alike && columns[i].byPath == nil
	}
	by := make([]*protection.Protection, len(ways))
	for i, way := range ways {
		by[i] = m.protector.FindProtection(id, way)
		alike = alike && by[i] == by[0]
	}
	if alike {
		rows.addRow(cellsOnPath(columns, 0), cellRow{nodePaths: ways, protection: by[0]})
		return
	}
	for i := range ways {
		rows.addRow(cellsOnPath(columns, i), cellRow{nodePaths: ways[i : i+1 : i+1], protection: by[i]})
	}
}

// unreadInput is what is not read at a node or above it: the first thing, and whether there are
// others.
type unreadInput struct {
	first  *unread.Input
	number int // its position among all
	others bool
}

func (u *unreadInput) addInput(other unreadInput) {
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

// findUnread notes where something is not read that may change what is in force. What only takes
// requests in place of the rules does not.
func (m *matrixBuilder) findUnread() {
	for i, s := range unread.Inputs(m.collector.Resolution) {
		if len(s.AttachedTo) > 0 {
			continue
		}
		if m.unreadAt == nil {
			m.unreadAt, m.unreadAbove = map[topology.NodeID]unreadInput{}, map[topology.NodeID]unreadInput{}
		}
		for _, id := range s.Nodes {
			at := m.unreadAt[id]
			at.addInput(unreadInput{first: s, number: i})
			m.unreadAt[id] = at
		}
	}
}

// unreadReason says what is not read and may change what is in force at a rule.
func (m *matrixBuilder) unreadReason(rule topology.NodeID) string {
	if m.unreadAt == nil {
		return ""
	}
	found := m.unreadAtOrAbove(rule)
	switch {
	case found.first == nil:
		return ""
	case found.others:
		return found.first.Problem().Message + "; and more"
	}
	return found.first.Problem().Message
}

// unreadAtOrAbove returns what is not read at a node and above it.
func (m *matrixBuilder) unreadAtOrAbove(id topology.NodeID) unreadInput {
	if known, ok := m.unreadAbove[id]; ok {
		return known
	}
	out := m.unreadAt[id]
	m.unreadAbove[id] = out // so that a circle ends
	for _, over := range m.collector.Resolution.Graph.AllParents(id) {
		out.addInput(m.unreadAtOrAbove(over))
	}
	m.unreadAbove[id] = out
	return out
}

// cellsOnPath returns the cells of all columns on one of the paths.
func cellsOnPath(columns []pathCells, way int) []*sharedCell {
	out := make([]*sharedCell, len(columns))
	for i := range columns {
		out[i] = columns[i].cellOn(way)
	}
	return out
}

// addRow puts paths on which the cells are the same into one row.
func (r *matrixRows) addRow(cells []*sharedCell, row cellRow) {
	key := binary.AppendUvarint(nil, uint64(row.protection.Number()))
	for _, c := range cells {
		key = binary.AppendUvarint(key, uint64(c.id))
	}
	at, known := r.index[string(key)]
	if !known {
		if r.index == nil {
			r.index = map[string]int{}
		}
		r.index[string(key)] = len(r.list)
		row.cells = cells
		r.list = append(r.list, row)
		return
	}
	same := &r.list[at]
	same.nodePaths = append(same.nodePaths[:len(same.nodePaths):len(same.nodePaths)], row.nodePaths...)
	same.paths = append(same.paths, row.paths...)
}

// buildRows returns the rows in the shape of the contract.
func (r *matrixRows) buildRows(m *matrixBuilder, ref model.Ref) []MatrixRow {
	for _, open := range r.uncertain {
		m.addUncertainRule(ref, open.why)
		cells := make([]*sharedCell, len(m.columns))
		for i, c := range m.columns {
			cells[i] = c.uncertainCell(ref.GroupKind(), open.why)
		}
		r.addRow(cells, cellRow{paths: open.paths, protection: m.protector.UncertainProtection(open.reasonAt(ref))})
	}
	out := make([]MatrixRow, len(r.list))
	for i, row := range r.list {
		paths := m.collector.ConvertPaths(row.nodePaths)
		if len(row.paths) > 0 {
			paths = view.SortPaths(append(slices.Clone(paths), row.paths...))
		}
		out[i] = MatrixRow{Target: ref, Paths: paths, Cells: make([]MatrixCell, len(row.cells)),
			Protection: row.protection}
		for c, cell := range row.cells {
			out[i].Cells[c] = cell.MatrixCell
		}
	}
	return out
}
