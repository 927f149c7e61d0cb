package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// EffectivePolicyStream is an EffectivePolicyList whose items are made while they are written: as many rules as a fleet has are never in memory at
// once.
type EffectivePolicyStream struct {
	Head *EffectivePolicyList // all but the items

	items *effectiveItems
}

// StreamEffective answers as Effective does.
func StreamEffective(r *resolve.Resolution, q Query) *EffectivePolicyStream {
	a := collector{res: r, query: q}
	if q.Targets == nil {
		a.answers.pass(r, a.chosen())
	}
	head, items := effective(&a)
	return &EffectivePolicyStream{head, items}
}

// EachItem hands out the items in their order.
func (s *EffectivePolicyStream) EachItem(yield func(any) bool) {
	s.items.each(func(item *EffectivePolicy) bool { return yield(item) })
}

// Opening is what the answer begins with.
func (s *EffectivePolicyStream) Opening() *Envelope { return &s.Head.Envelope }

// Empty reports whether there is nothing in the answer.
func (s *EffectivePolicyStream) Empty() bool { return s.Head.Empty() && len(s.items.places) == 0 }

// Table needs all items at once.
func (s *EffectivePolicyStream) Table(o TableOptions) Table {
	whole := *s.Head
	whole.Items = s.items.all()
	return whole.Table(o)
}

// effectiveItems are the items of a list before they are made.
type effectiveItems struct {
	collector *collector
	places    []itemPlace
	atATime   int // how many are made side by side
}

// itemPlace is where which answer is in force.
type itemPlace struct {
	kind  *resolve.Kind
	stack resolve.StackID
	node  topology.NodeID
	paths []Path
}

// each makes the items.
func (e *effectiveItems) each(yield func(*EffectivePolicy) bool) {
	for from := 0; from < len(e.places); from += e.atATime {
		to := min(from+e.atATime, len(e.places))
		e.prepare(e.places[from:to])
		items := make([]EffectivePolicy, to-from)
		for i, p := range e.places[from:to] {
			items[i] = e.collector.make(p.kind, p.node, p.stack, p.paths)
			if !yield(&items[i]) {
				return
			}
		}
		e.forget(e.places[from:to], to)
	}
}

// all are the items, all at once.
func (e *effectiveItems) all() []EffectivePolicy {
	out := make([]EffectivePolicy, 0, len(e.places))
	for item := range e.each {
		out = append(out, *item)
	}
	return out
}

// prepare makes the answers for places that are not there.
func (e *effectiveItems) prepare(places []itemPlace) {
	stacks, targets := map[*resolve.Kind][]resolve.StackID{}, map[*resolve.Kind]map[resolve.StackID][]topology.NodeID{}
	for _, p := range places {
		if e.collector.answers.passing[p.kind] == nil || e.collector.answers.made[p.kind][p.stack] != nil {
			continue
		}
		if targets[p.kind] == nil {
			targets[p.kind] = map[resolve.StackID][]topology.NodeID{}
		}
		if targets[p.kind][p.stack] == nil {
			stacks[p.kind] = append(stacks[p.kind], p.stack)
		}
		targets[p.kind][p.stack] = append(targets[p.kind][p.stack], p.node)
	}
	for k, missing := range stacks {
		e.collector.answers.each(e.collector.res, k, missing, targets[k])
	}
}

// forget drops the answers that no item after those before next needs.
func (e *effectiveItems) forget(places []itemPlace, next int) {
	for _, p := range places {
		if facts := e.collector.answers.passed(p.kind, p.stack); facts != nil && facts.last < next {
			delete(e.collector.answers.made[p.kind], p.stack)
		}
	}
}
