package picture

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// picture is what a drawing for people shows of a topology. It shows less than the topology has: an
// object is one box with a row for each of its sections, what became of a policy is a chip in a
// row, and there is a line only where the policy is in focus.
type picture struct {
	Boxes    []*targetBox  // sorted by namespace, level and reference
	notes    []*policyNote // sorted by namespace, column and reference
	Edges    []pictureEdge // sorted by their ends
	Kinds    []string
	places   map[string]position // by node
	states   map[string]bool     // the states that chips show
	caption  string              // what is not drawn one by one
	asked    []string            // the requests whose paths are marked, if several, and what becomes of them
	differs  bool                // something is not as a proxy does it
	branches []*branchPoint      // sorted
}

// describeState says what a line stands for.
func (p *picture) describeState(state string, s lineStyle) string {
	if len(p.asked) > 0 && state == graph.EdgeTaken {
		return "way of such requests"
	}
	return s.meaning
}

// targetBox is a target with its sections.
type targetBox struct {
	Node    *graph.GraphNode
	Rows    []*boxRow // the first is the object itself
	level   int       // the place of its role on the path of traffic
	Column  int
	class   string // of a Gateway: the class it names, where that is not drawn by itself
	focus   bool
	dangles bool         // something points to it, and it is not in the input
	entry   *pictureEdge // what comes through the point before it, if it has one
}

// boxRow is an object, or one of its sections.
type boxRow struct {
	Node  *graph.GraphNode
	Chips map[string][]policyChip // by policy kind
}

// policyNote is a policy.
type policyNote struct {
	Node   *graph.GraphNode
	kind   int // its number among the kinds of the picture
	column int
	focus  bool
}

// pictureEdge is a line between two places.
type pictureEdge struct {
	From, to position
	Kind     string
	State    string
	count    int
	Label    string
	differs  bool // a proxy does otherwise
	branch   *branchPoint
}

// branchPoint is a point before a box from which the lines of a policy in focus go to its rows, if
// the policy stands further away.
type branchPoint struct {
	from *policyNote
	to   *targetBox
}

// usesEntry reports whether a line goes through the point before its end.
func (l *pictureEdge) usesEntry() bool {
	return l.Kind == graph.EdgeParent && l.to.box != nil && l.to.row == 0 && l.to.box.entry != nil &&
		l.From.columnNumber() < l.to.box.Column-1
}

// position is where a node is drawn: a row of a box, or a note.
type position struct {
	box  *targetBox
	row  int
	Note *policyNote
}

func (p position) nodeID() string {
	if p.Note != nil {
		return p.Note.Node.ID
	}
	return p.box.Node.ID
}

func (p position) columnNumber() int {
	if p.Note != nil {
		return p.Note.column
	}
	return p.box.Column
}

// NewPicture arranges t. Ends of edges that are no nodes are not drawn.
func NewPicture(t *graph.Topology) *picture {
	p := &picture{places: map[string]position{}, states: map[string]bool{}, caption: t.CollapsedLine(),
		asked: t.RequestLines()}
	nodes := slices.Clone(t.Nodes)
	slices.SortFunc(nodes, func(a, b graph.GraphNode) int {
		return cmp.Or(cmp.Compare(a.Ref.Namespace, b.Ref.Namespace), a.Ref.Compare(b.Ref), cmp.Compare(a.ID, b.ID))
	})
	p.Kinds = listPolicyKinds(nodes)
	whole, owners := map[string]*targetBox{}, findGroupOwners(t)
	for i := range nodes {
		p.addNode(&nodes[i], whole, owners)
	}
	for _, id := range t.Focus {
		switch at, known := p.places[id]; {
		case known && at.Note != nil:
			at.Note.focus = true
		case known:
			at.box.focus = true
		}
	}
	edges := sortEdges(t)
	p.foldClasses(edges, t.Focus)
	for _, e := range edges {
		p.addEdge(e)
	}
	p.joinListeners()
	p.sortChips()
	p.assignColumns()
	return p
}

// listPolicyKinds lists the kinds of the policies, sorted.
func listPolicyKinds(nodes []graph.GraphNode) []string {
	kinds := map[string]bool{}
	for i := range nodes {
		if nodes[i].Kind == policyRole {
			kinds[policyKindOf(&nodes[i])] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

// policyRole is the role of nodes that are policies.
const policyRole = "policy"

func policyKindOf(n *graph.GraphNode) string {
	return cmp.Or(n.Labels["policyKind"], n.Ref.GroupKind().String())
}

// addNode adds a node. Sections come after their object, which is sorted before them.
func (p *picture) addNode(n *graph.GraphNode, whole map[string]*targetBox, owners map[string]string) {
	if _, twice := p.places[n.ID]; twice {
		return
	}
	if n.Kind == policyRole {
		at := &policyNote{Node: n, kind: slices.Index(p.Kinds, policyKindOf(n))}
		p.notes = append(p.notes, at)
		p.places[n.ID] = position{Note: at}
		return
	}
	if n.IsPoint() { // beside the node of its object
		b := &targetBox{Node: n, level: pointLevel(n), Rows: []*boxRow{{Node: n, Chips: map[string][]policyChip{}}}}
		p.Boxes = append(p.Boxes, b)
		p.places[n.ID] = position{box: b}
		return
	}
	key := n.Ref.WithoutSection().GroupKind().String() + "/" + n.Ref.FullName() + n.MeshSuffix()
	b := whole[key]
	if n.Ref.Name == "" {
		b = p.places[owners[n.ID]].box
	}
	if isSection(n) && b == nil && n.Ref.Name != "" { // its object is not in the drawing, and named all the same
		b = p.addOwnerOf(n)
		whole[key] = b
	}
	if !isSection(n) || b == nil {
		b = &targetBox{Node: n, level: roleLevel(n.Kind)}
		if isNamespaceGroup(n) { // they are mostly routes
			b.level = roleLevel("route")
		}
		p.Boxes = append(p.Boxes, b)
		if len(n.Members) == 0 && n.Ref.Section == "" {
			whole[key] = b
		}
	}
	b.Rows = append(b.Rows, &boxRow{Node: n, Chips: map[string][]policyChip{}})
	p.places[n.ID] = position{box: b, row: len(b.Rows) - 1}
}

// addOwnerOf adds the object of a section that stands in the drawing without it.
func (p *picture) addOwnerOf(section *graph.GraphNode) *targetBox {
	kind := map[string]string{"rule": "route", "listener": "gateway", "port": "backend"}[section.Kind]
	node := &graph.GraphNode{ID: section.ID + " object", Ref: section.Ref.WithoutSection(),
		Kind: cmp.Or(kind, section.Kind)}
	b := &targetBox{Node: node, level: roleLevel(section.Kind),
		Rows: []*boxRow{{Node: node, Chips: map[string][]policyChip{}}}}
	p.Boxes = append(p.Boxes, b)
	return b
}

// findGroupOwners returns, for sections of objects that are drawn as one, the nodes of those
// objects.
func findGroupOwners(t *graph.Topology) map[string]string {
	groups := map[string]model.Ref{}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; len(n.Members) > 0 && n.Ref.Name == "" {
			groups[n.ID] = n.Ref
		}
	}
	out := map[string]string{}
	for _, e := range sortEdges(t) {
		from, fromGroup := groups[e.From]
		to, toGroup := groups[e.To]
		if fromGroup && toGroup && e.Kind == graph.EdgeParent && to.Section != "" && from.Section == "" &&
			from.Kind == to.Kind && out[e.To] == "" {
			out[e.To] = e.From
		}
	}
	return out
}

// isSection reports whether n is a section of an object, or stands for several sections of one.
func isSection(n *graph.GraphNode) bool {
	if n.Ref.Section != "" {
		return true
	}
	return n.Ref.Name != "" && slices.ContainsFunc(n.Members, func(m model.Ref) bool { return m.Section != "" })
}

// roleLevel is how far down the path of traffic a role is.
func roleLevel(role string) int {
	levels := map[string]int{"gatewayClass": 0, "mesh": 0, "namespace": 1, "gateway": 1, "dataplane": 1, "service": 1,
		"listenerSet": 2, "listener": 2, "route": 3, "rule": 3, "backend": 9, "port": 9}
	if n, known := levels[role]; known {
		return n
	}
	return 3
}

// pointLevel is how far down the path of traffic a point is: behind the backends, or before the
// Gateways.
func pointLevel(n *graph.GraphNode) int {
	step, err := strconv.Atoi(n.Labels[graph.LabelStep])
	if err != nil || step > 0 {
		return roleLevel("backend") + step
	}
	return step
}

// addEdge adds e as a line, a chip, or both; the edge from an object to its own section is the row.
func (p *picture) addEdge(e graph.GraphEdge) {
	from, fromKnown := p.places[e.From]
	to, toKnown := p.places[e.To]
	if !fromKnown || !toKnown {
		return
	}
	for _, end := range []position{from, to} {
		if e.State == graph.EdgeDangling && end.box != nil && isMissing(end.box.Rows[end.row].Node) {
			end.box.dangles = true
		}
	}
	if from.Note == nil && from.box == to.box && from.row == 0 && to.row > 0 {
		return
	}
	l := pictureEdge{From: from, to: to, Kind: e.Kind, State: e.State, count: e.Count, differs: e.Proxy != ""}
	p.differs, l.Label = p.differs || l.differs, clipText(e.PathText(1), factWidth)
	if isPolicyOutcome(e.Kind) {
		l.State = cmp.Or(e.State, e.Kind)
		p.addChip(l, e.By)
		if from.Note == nil || !from.Note.focus {
			return
		}
		l.Label = p.formatWinners(e.By)
	}
	p.Edges = append(p.Edges, l)
}

// clipText cuts s to n characters.
func clipText(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// TooltipOf is what a node is called in a tooltip.
func TooltipOf(n *graph.GraphNode) string {
	return n.FullText()
}
