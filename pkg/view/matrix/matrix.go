package matrix

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// The states of a cell of a matrix.
const (
	CellInForce       = "InForce"       // a policy of the kind is in force
	CellNone          = "None"          // no policy of the kind is on the path
	CellLost          = "Lost"          // policies of the kind are on the way, and nothing of them is in force
	CellVoid          = "Void"          // a policy of the kind names something on the way, and does not attach to it
	CellUnknown       = "Unknown"       // cannot be known
	CellNotApplicable = "NotApplicable" // the kind does not apply to such routes, or no traffic comes on this path
)

// MatrixCell says who governs a route rule with the policies of one kind.
type MatrixCell struct {
	PolicyKind string `json:"policyKind"` // Kind.group
	State      string `json:"state"`      // InForce, None, Lost, Void, Unknown, NotApplicable
	// the roles at which the policies stand that something in force comes from, least specific
	// first; of an unknown cell as far as was read
	Levels []string `json:"levels,omitempty"`
	// these policies; of a cell where nothing is in force those that are lost or void
	Policies []model.Ref `json:"policies,omitempty"`
	Why      string      `json:"why,omitempty"` // why the state is Lost, Void or Unknown
}

// MatrixRow is one route rule, on all paths on which its cells are the same.
type MatrixRow struct {
	Target model.Ref    `json:"target"` // the route rule
	Paths  []view.Path  `json:"paths"`  // the ways on which it is so
	Cells  []MatrixCell `json:"cells"`  // one of every kind, in their order
	// of the kinds that must not be missing, those of which no policy is in force; of properties,
	// those that fail
	Missing []string `json:"missing,omitempty"`
	Unknown []string `json:"unknown,omitempty"` // of these kinds and properties, those of which it cannot be known

	Protection *protection.Protection `json:"protection,omitempty"` // whether each property of requests holds

	hasOtherRows bool // the rule has other rows
}

// MatrixCount counts the route rules by what is so of one policy kind on any of their paths, the
// worst first: missing, unknown, in force.
type MatrixCount struct {
	// Kind.group, of alternatives with " or " between them; or a property of requests
	PolicyKind    string `json:"policyKind"`
	Missing       int    `json:"missing"`       // no policy is in force
	Unknown       int    `json:"unknown"`       // cannot be known
	InForce       int    `json:"inForce"`       // a policy is in force
	NotApplicable int    `json:"notApplicable"` // the kind has no say
}

// PolicyMatrix answers `matrix`.
type PolicyMatrix struct {
	view.Envelope
	Kinds []string `json:"kinds"` // the policy kinds that the cells are about, as Kind.group
	// the kinds and properties that must not be missing; there are then only rows where one is
	// missing or unknown
	Required []string `json:"required,omitempty"`
	// policy kinds of the input that have no cells, as they hold elsewhere: at Services, workloads
	// or proxies
	Elsewhere []string      `json:"elsewhere,omitempty"`
	Rules     int           `json:"rules"`          // how many route rules get traffic, or may
	Idle      []model.Ref   `json:"idle,omitempty"` // route rules that get no traffic; they have no rows
	Counts    []MatrixCount `json:"counts"`         // of the required kinds or, without any, of all kinds
	Items     []MatrixRow   `json:"items"`          // by target

	// paths of Ingresses in force, by target; none where something must not be missing, or kinds are named
	Ingresses []IngressRow `json:"ingresses,omitempty"`

	properties []requests.Property // that must not be missing

	namespaces      map[string]*namespaceCount // what is counted there
	judgesIngresses bool                       // Ingresses has all that was asked for

	leavesIngressesOut bool // there are paths of Ingresses, which are not judged by what must not be missing
}

// HasFindings reports whether a required kind is missing on a rule, or may be: where it cannot be
// known, and where the answer is incomplete.
func (m *PolicyMatrix) HasFindings() bool {
	return len(m.Required) > 0 && (len(m.Items) > 0 || !m.Complete)
}

// Query is what a matrix is about, and what must not be missing.
type Query struct {
	view.Query
	Required   [][]model.GroupKind // each is one kind or several alternatives, of which one is enough
	Properties []requests.Property // of requests
	Cells      bool                // only who governs each rule is asked, not what its requests are protected by
	Matcher    *request.Matcher    // that tells requests apart, where gates do
	Judges     view.Judges
}

// Build says for every route rule which policies of each kind are in force, and what protects its
// requests. The kinds are those that the query names and those that are required or, if there are
// none, those in the input.
func Build(r *resolve.Resolution, query Query) (*PolicyMatrix, error) {
	q, required := query.Query, query.Required
	if len(query.Properties) > 0 && required == nil && q.Kinds == nil {
		q.Kinds = []model.GroupKind{}
	}
	for _, kinds := range required {
		q.Kinds = append(q.Kinds[:len(q.Kinds):len(q.Kinds)], kinds...)
	}
	m := matrixBuilder{collector: collect.New(r, q), out: &PolicyMatrix{Items: []MatrixRow{}, Kinds: []string{},
		Counts: []MatrixCount{}, properties: query.Properties},
		protector: protection.NewProtector(r, query.Matcher, query.Judges,
			query.Properties), properties: query.Properties}
	m.buildColumns()
	m.addFilterColumn()
	m.addRequired(required)
	nodes := m.collector.ListNodes()
	m.collector.MarkVisited(nodes)
	m.findUnread()
	if query.Cells && len(query.Properties) == 0 {
		m.protector.LeaveOut()
	} else if err := m.protector.JudgeClasses(m.selectRules(nodes)); err != nil {
		return nil, err
	}
	m.paths = collect.NewTrafficPaths(r)
	copies := map[model.Ref][]topology.NodeID{} // the rules of routes that other routes delegate to, by object
	for _, id := range nodes {
		n := r.Node(id)
		switch {
		case n.Role != topology.Rule || int(id) >= r.Graph.Len():
		case n.Hop == 0 && len(r.Graph.Instances(id)) == 0:
			m.addRule(n.Ref, id)
		default:
			copies[n.Ref] = append(copies[n.Ref], id)
		}
	}
	for ref, ids := range copies {
		m.addRule(ref, ids...)
	}
	slices.SortStableFunc(m.out.Items, func(a, b MatrixRow) int { return view.CompareTargets(a.Target, b.Target) })
	slices.SortFunc(m.out.Idle, view.CompareTargets)
	m.addIngresses()
	m.out.Finish("PolicyMatrix", append(m.collector.CollectProblems(), m.uncertainProblems()...))
	return m.out, nil
}

// selectRules returns the route rules among nodes.
func (m *matrixBuilder) selectRules(nodes []topology.NodeID) []topology.NodeID {
	return slices.DeleteFunc(slices.Clone(nodes), func(id topology.NodeID) bool {
		return m.collector.Resolution.Node(id).Role != topology.Rule || int(id) >= m.collector.Resolution.Graph.Len()
	})
}

// HoldsAtRoutes reports whether policies of a kind can be in force on the path to route rules, so
// that a matrix can have cells of it.
func HoldsAtRoutes(r *resolve.Resolution, gk model.GroupKind) bool {
	return slices.ContainsFunc(r.Kinds, func(k *resolve.Kind) bool {
		if k.GroupKind != gk {
			return false
		}
		for _, role := range []topology.Role{topology.Rule, topology.Route, topology.Listener, topology.ListenerSet,
			topology.Gateway, topology.GatewayClass} {
			if k.HasResultsAt(role) {
				return true
			}
			for i := range k.Scopes {
				if slices.Contains(k.Scopes[i].Effective, role) {
					return true
				}
			}
		}
		return false
	})
}

// matrixBuilder builds a matrix.
type matrixBuilder struct {
	collector         *collect.Collector
	out               *PolicyMatrix
	columns           []*matrixColumn
	required          []requirement
	paths             *collect.TrafficPaths
	cells             []*sharedCell
	uncertainPolicies map[model.Ref]string    // policies that a problem of the input leaves open
	uncertainRules    map[string]*model.Tally // rules of which it is not known whether traffic comes, by the reason

	protector  *protection.Protector
	properties []requests.Property // that must hold

	unreadAt, unreadAbove map[topology.NodeID]unreadInput // at a node; at it and above it
}

// requirement is a set of kinds of which at least one must be in force.
type requirement struct {
	name    string
	columns []int
}

// buildColumns adds a column for each kind.
func (m *matrixBuilder) buildColumns() {
	at := map[model.GroupKind]*matrixColumn{}
	elsewhere := map[model.GroupKind]bool{}
	for _, k := range m.collector.Resolution.Kinds {
		gk := k.GroupKind
		named := slices.Contains(m.collector.Query.Kinds, gk)
		if !named && (m.collector.Query.Kinds != nil || !k.IsInUse() || len(k.Policies) == 0) {
			continue
		}
		if at[gk] == nil && !elsewhere[gk] {
			if !HoldsAtRoutes(m.collector.Resolution, gk) {
				elsewhere[gk] = true
				m.out.Elsewhere = append(m.out.Elsewhere, gk.String())
				continue
			}
			at[gk] = m.newColumn(gk)
		}
		if at[gk] != nil {
			at[gk].addKind(k)
		}
	}
	for _, p := range m.collector.Resolution.Problems {
		if p.Ref != nil && p.IsIncomplete() && at[p.Ref.GroupKind()] != nil {
			if m.uncertainPolicies == nil {
				m.uncertainPolicies = map[model.Ref]string{}
			}
			m.uncertainPolicies[*p.Ref] = p.Message
		}
	}
}

// addRequired notes what must not be missing, and prepares the counts.
func (m *matrixBuilder) addRequired(required [][]model.GroupKind) {
	for _, kinds := range required {
		var need requirement
		for i, c := range m.columns {
			if slices.Contains(kinds, c.kind) {
				need.columns = append(need.columns, i)
				if need.name != "" {
					need.name += " or "
				}
				need.name += c.kind.String()
			}
		}
		if len(need.columns) > 0 &&
			!slices.ContainsFunc(m.required, func(other requirement) bool { return other.name == need.name }) {
			m.required = append(m.required, need)
			m.out.Required = append(m.out.Required, need.name)
			m.out.Counts = append(m.out.Counts, MatrixCount{PolicyKind: need.name})
		}
	}
	for _, p := range m.properties {
		m.out.Required = append(m.out.Required, p.String())
		m.out.Counts = append(m.out.Counts, MatrixCount{PolicyKind: p.String()})
	}
	if m.out.Required == nil {
		for _, c := range m.columns {
			m.out.Counts = append(m.out.Counts, MatrixCount{PolicyKind: c.kind.String()})
		}
	}
}

// columnGroups returns the columns that are counted together.
func (m *matrixBuilder) columnGroups() [][]int {
	var out [][]int
	for _, need := range m.required {
		out = append(out, need.columns)
	}
	if m.out.Required == nil {
		for i := range m.columns {
			out = append(out, []int{i})
		}
	}
	return out
}

// addRows adds the rows of one rule, and counts them.
func (m *matrixBuilder) addRows(rows []MatrixRow) {
	m.out.Rules++
	worst := make([]string, len(m.out.Counts))
	for i := range rows {
		row := &rows[i]
		row.hasOtherRows = len(rows) > 1
		for j, state := range m.rowStates(row) {
			if rankState(state) > rankState(worst[j]) {
				worst[j] = state
			}
			switch {
			case m.out.Required == nil:
			case state == CellNone:
				row.Missing = append(row.Missing, m.out.Required[j])
			case state == CellUnknown:
				row.Unknown = append(row.Unknown, m.out.Required[j])
			}
		}
		if m.out.Required == nil || len(row.Missing)+len(row.Unknown) > 0 {
			m.out.Items = append(m.out.Items, *row)
		}
	}
	for j, state := range worst {
		m.out.Counts[j].addState(state)
	}
	m.countInNamespace(rows, worst)
}

// addState counts a rule.
func (c *MatrixCount) addState(state string) {
	switch state {
	case CellNone:
		c.Missing++
	case CellUnknown:
		c.Unknown++
	case CellInForce:
		c.InForce++
	default:
		c.NotApplicable++
	}
}

// rowStates returns the states in a row of all that is counted: of kinds, then of properties.
func (m *matrixBuilder) rowStates(row *MatrixRow) []string {
	var out []string
	for _, columns := range m.columnGroups() {
		out = append(out, combineStates(row.Cells, columns))
	}
	for i := range m.properties {
		out = append(out, stateOfVerdict(row.Protection.AskedResult(i).Verdict))
	}
	return out
}

// combineStates returns the state of alternatives: in force if one of them is, else unknown if one
// of them is, else none unless no kind applies.
func combineStates(cells []MatrixCell, columns []int) string {
	out := CellNotApplicable
	for _, c := range columns {
		switch state := cells[c].State; {
		case state == CellInForce:
			return state
		case state == CellUnknown:
			out = state
		case state != CellNotApplicable && out == CellNotApplicable:
			out = CellNone
		}
	}
	return out
}

// rankState orders the states that combineStates returns, the worst last.
func rankState(state string) int {
	return slices.Index([]string{CellNotApplicable, CellInForce, CellUnknown, CellNone}, state)
}
