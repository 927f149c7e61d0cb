package render

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// picture is what a drawing for people shows of a topology. It is less than the truth: an object is one box with a row for each of its
// sections, what became of a policy is a chip in a row, and a line only where the policy is in focus.
type picture struct {
	boxes   []*box  // sorted by namespace, level and reference
	notes   []*note // sorted by namespace, column and reference
	lines   []line  // sorted by their ends
	kinds   []string
	places  map[string]drawnAt // by node
	states  map[string]bool    // the states that chips show
	caption string             // what is not drawn one by one
	asked   []string           // which requests the ways of are marked, if of more than one, and what becomes of them
	differs bool               // something is not as a proxy does it
	spreads []*spread          // sorted
}

// means says what a line stands for.
func (p *picture) means(state string, s stroke) string {
	if len(p.asked) > 0 && state == view.EdgeTaken {
		return "way of such requests"
	}
	return s.means
}

// box is a target with its sections.
type box struct {
	node    *view.GraphNode
	rows    []*row // the first is the object itself
	level   int    // the place of its role on the way of traffic
	column  int
	class   string // of a Gateway: the class it names, where that is not drawn by itself
	focus   bool
	dangles bool  // something points to it, and it is not in the input
	entry   *line // what comes through the point before it, if it has one
}

// row is an object, or one of its sections.
type row struct {
	node  *view.GraphNode
	chips map[string][]chip // by policy kind
}

// note is a policy.
type note struct {
	node   *view.GraphNode
	kind   int // its number among the kinds of the picture
	column int
	focus  bool
}

// line joins two places.
type line struct {
	from, to drawnAt
	kind     string
	state    string
	count    int
	label    string
	differs  bool // a proxy does otherwise
	via      *spread
}

// spread is a point before a box from which the lines of a policy in focus go to its rows, if the policy stands further away.
type spread struct {
	from *note
	to   *box
}

// enters reports whether a line goes through the point before its end.
func (l *line) enters() bool {
	return l.kind == view.EdgeParent && l.to.box != nil && l.to.row == 0 && l.to.box.entry != nil && l.from.column() < l.to.box.column-1
}

// drawnAt is where a node is drawn: a row of a box, or a note.
type drawnAt struct {
	box  *box
	row  int
	note *note
}

func (p drawnAt) id() string {
	if p.note != nil {
		return p.note.node.ID
	}
	return p.box.node.ID
}

func (p drawnAt) column() int {
	if p.note != nil {
		return p.note.column
	}
	return p.box.column
}

// newPicture arranges t. Ends of edges that are no nodes are not drawn.
func newPicture(t *view.Topology) *picture {
	p := &picture{places: map[string]drawnAt{}, states: map[string]bool{}, caption: t.CollapsedLine(), asked: t.RequestsLines()}
	nodes := slices.Clone(t.Nodes)
	slices.SortFunc(nodes, func(a, b view.GraphNode) int {
		return cmp.Or(cmp.Compare(a.Ref.Namespace, b.Ref.Namespace), a.Ref.Compare(b.Ref), cmp.Compare(a.ID, b.ID))
	})
	p.kinds = policyKinds(nodes)
	whole, owners := map[string]*box{}, groupOwners(t)
	for i := range nodes {
		p.add(&nodes[i], whole, owners)
	}
	for _, id := range t.Focus {
		switch at, known := p.places[id]; {
		case known && at.note != nil:
			at.note.focus = true
		case known:
			at.box.focus = true
		}
	}
	edges := sortedEdges(t)
	p.foldClasses(edges, t.Focus)
	for _, e := range edges {
		p.edge(e)
	}
	p.joinListeners()
	p.sortChips()
	p.arrange()
	return p
}

// policyKinds lists the kinds of the policies, sorted.
func policyKinds(nodes []view.GraphNode) []string {
	kinds := map[string]bool{}
	for i := range nodes {
		if nodes[i].Kind == policyRole {
			kinds[policyKind(&nodes[i])] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

// policyRole is the role of nodes that are policies.
const policyRole = "policy"

func policyKind(n *view.GraphNode) string {
	return cmp.Or(n.Labels["policyKind"], n.Ref.GroupKind().String())
}

// add draws a node. Sections come after their object, which is sorted before them.
func (p *picture) add(n *view.GraphNode, whole map[string]*box, owners map[string]string) {
	if _, twice := p.places[n.ID]; twice {
		return
	}
	if n.Kind == policyRole {
		at := &note{node: n, kind: slices.Index(p.kinds, policyKind(n))}
		p.notes = append(p.notes, at)
		p.places[n.ID] = drawnAt{note: at}
		return
	}
	key := n.Ref.WithoutSection().GroupKind().String() + "/" + n.Ref.FullName() + n.Suffix()
	b := whole[key]
	if n.Ref.Name == "" {
		b = p.places[owners[n.ID]].box
	}
	if isSection(n) && b == nil && n.Ref.Name != "" { // its object is not in the drawing, and named all the same
		b = p.stand(n)
		whole[key] = b
	}
	if !isSection(n) || b == nil {
		b = &box{node: n, level: level(n.Kind)}
		if isNamespaces(n) { // they are mostly routes
			b.level = level("route")
		}
		p.boxes = append(p.boxes, b)
		if len(n.Members) == 0 && n.Ref.Section == "" {
			whole[key] = b
		}
	}
	b.rows = append(b.rows, &row{node: n, chips: map[string][]chip{}})
	p.places[n.ID] = drawnAt{box: b, row: len(b.rows) - 1}
}

// stand draws the object of a section that stands in the drawing without it.
func (p *picture) stand(section *view.GraphNode) *box {
	kind := map[string]string{"rule": "route", "listener": "gateway", "port": "backend"}[section.Kind]
	node := &view.GraphNode{ID: section.ID + " object", Ref: section.Ref.WithoutSection(), Kind: cmp.Or(kind, section.Kind)}
	b := &box{node: node, level: level(section.Kind), rows: []*row{{node: node, chips: map[string][]chip{}}}}
	p.boxes = append(p.boxes, b)
	return b
}

// groupOwners are, for sections of objects that are drawn as one, the nodes of those objects.
func groupOwners(t *view.Topology) map[string]string {
	groups := map[string]model.Ref{}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; len(n.Members) > 0 && n.Ref.Name == "" {
			groups[n.ID] = n.Ref
		}
	}
	out := map[string]string{}
	for _, e := range sortedEdges(t) {
		from, fromGroup := groups[e.From]
		to, toGroup := groups[e.To]
		if fromGroup && toGroup && e.Kind == view.EdgeParent && to.Section != "" && from.Section == "" && from.Kind == to.Kind && out[e.To] == "" {
			out[e.To] = e.From
		}
	}
	return out
}

// isSection reports whether n is a section of an object, or stands for several sections of one.
func isSection(n *view.GraphNode) bool {
	if n.Ref.Section != "" {
		return true
	}
	return n.Ref.Name != "" && slices.ContainsFunc(n.Members, func(m model.Ref) bool { return m.Section != "" })
}

// level is how far down the way of traffic a role is.
func level(role string) int {
	levels := map[string]int{"gatewayClass": 0, "mesh": 0, "namespace": 1, "gateway": 1, "dataplane": 1, "service": 1, "listenerSet": 2, "listener": 2, "route": 3, "rule": 3, "backend": 9, "port": 9}
	if n, known := levels[role]; known {
		return n
	}
	return 3
}

// edge draws e as a line, a chip, or both; the edge from an object to its own section is the row.
func (p *picture) edge(e view.GraphEdge) {
	from, fromKnown := p.places[e.From]
	to, toKnown := p.places[e.To]
	if !fromKnown || !toKnown {
		return
	}
	for _, end := range []drawnAt{from, to} {
		if e.State == view.EdgeDangling && end.box != nil && missing(end.box.rows[end.row].node) {
			end.box.dangles = true
		}
	}
	if from.note == nil && from.box == to.box && from.row == 0 && to.row > 0 {
		return
	}
	l := line{from: from, to: to, kind: e.Kind, state: e.State, count: e.Count, differs: e.Proxy != ""}
	p.differs = p.differs || l.differs
	if isFate(e.Kind) {
		l.state = cmp.Or(e.State, e.Kind)
		p.chip(l, e.By)
		if from.note == nil || !from.note.focus {
			return
		}
		l.label = p.byLabel(e.By)
	}
	p.lines = append(p.lines, l)
}

// clip cuts s to n characters.
func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// titled is what a node is called in a tooltip.
func titled(n *view.GraphNode) string {
	if all := n.Collective(); all != "" {
		return all
	}
	return refTitle(n.Ref) + n.Suffix()
}

func refTitle(ref model.Ref) string {
	name := ref.Kind + " " + ref.FullName()
	if ref.Section != "" {
		name += " " + ref.Section
	}
	return name
}
