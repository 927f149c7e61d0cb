package picture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// policyChip names a policy where it is in force, or where it could be and is not.
type policyChip struct {
	note  *policyNote
	State string
	count int
	by    []string // nodes of the policies that won

	differs bool // a proxy does otherwise
}

// isPolicyOutcome reports whether edges of a kind say what became of a policy somewhere.
func isPolicyOutcome(kind string) bool {
	return kind == graph.EdgeEffective || kind == graph.EdgeOverridden || kind == graph.EdgeConditionFalse ||
		kind == graph.EdgeBypassed
}

// formatWinners names the policies that won.
func (p *picture) formatWinners(by []string) string {
	if len(by) == 0 {
		return ""
	}
	names := []string{}
	for _, id := range by {
		if at := p.places[id].Note; at != nil {
			names = append(names, clipText(at.Node.Ref.Name, nameWidth))
		}
	}
	const named = 2
	if len(names) > named {
		names = append(names[:named], "…")
	}
	if len(names) == 0 {
		return ""
	}
	return "by " + strings.Join(names, ", ")
}

func (p *picture) addChip(l pictureEdge, by []string) {
	if l.From.Note == nil || l.to.box == nil {
		return
	}
	kind := p.Kinds[l.From.Note.kind]
	chips := l.to.box.Rows[l.to.row].Chips
	chips[kind] = append(chips[kind], policyChip{note: l.From.Note, State: l.State, count: l.count, by: by,
		differs: l.differs})
	p.states[l.State] = true
}

// sortChips sorts the chips of every row: what is in force first.
func (p *picture) sortChips() {
	order := []string{graph.EdgeEffective, "partial", graph.EdgeOverridden, graph.EdgeConditionFalse, graph.EdgeBypassed}
	for _, b := range p.Boxes {
		for _, r := range b.Rows {
			for _, chips := range r.Chips {
				slices.SortFunc(chips, func(a, b policyChip) int {
					return cmp.Or(cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State)),
						a.note.Node.Ref.Compare(b.note.Node.Ref), cmp.Compare(a.note.Node.ID, b.note.Node.ID))
				})
			}
		}
	}
}

// joinListeners draws one line from the head of a Gateway where all its listeners, of which there
// are several, lead to the same place.
func (p *picture) joinListeners() {
	type bundle struct {
		from *targetBox
		to   position
	}
	found := map[bundle][]pictureEdge{}
	for _, l := range p.Edges {
		if l.Kind == graph.EdgeParent && l.From.box != nil && l.From.row > 0 &&
			l.From.box.Rows[l.From.row].Node.Kind == "listener" {
			key := bundle{l.From.box, l.to}
			found[key] = append(found[key], l)
		}
	}
	joined := func(l pictureEdge) bool {
		all := found[bundle{l.From.box, l.to}]
		same := func(x pictureEdge) bool { return x.State == l.State && x.count == l.count && x.differs == l.differs }
		return len(all) > 1 && len(all) == len(l.From.box.Rows)-1 &&
			!slices.ContainsFunc(all, func(x pictureEdge) bool { return !same(x) })
	}
	out := p.Edges[:0:0]
	for _, l := range p.Edges {
		if l.Kind == graph.EdgeParent && l.From.box != nil && l.From.row > 0 && joined(l) {
			if l.From.row > 1 {
				continue
			}
			l.From.row = 0
		}
		out = append(out, l)
	}
	p.Edges = out
}

// foldClasses takes away the boxes of classes that say no more than their name: it stands in their
// Gateways.
func (p *picture) foldClasses(edges []graph.GraphEdge, focus []string) {
	plain, last := map[string]bool{}, map[string]string{}
	for _, b := range p.Boxes {
		n := b.Node
		plain[n.ID] = n.Kind == "gatewayClass" && len(n.Members) == 0 && !slices.Contains(focus, n.ID)
	}
	for _, e := range edges {
		if plain[e.To] || e.Kind != graph.EdgeParent {
			plain[e.To] = false
		}
		if to := p.places[e.To]; e.Kind == graph.EdgeParent && (to.box == nil || to.row != 0 ||
			to.box.Node.Kind != "gateway") {
			plain[e.From] = false
		}
		last[e.From] = e.To
	}
	for _, e := range edges {
		if from := p.places[e.From].box; plain[e.From] && from != nil {
			p.places[e.To].box.class = from.Node.Ref.Name
			if state := from.Node.Labels["state"]; state != "" {
				p.places[e.To].box.class += ", " + state
			}
		}
	}
	p.Boxes = slices.DeleteFunc(p.Boxes, func(b *targetBox) bool {
		fold := plain[b.Node.ID] && last[b.Node.ID] != ""
		if fold {
			delete(p.places, b.Node.ID)
		}
		return fold
	})
}
