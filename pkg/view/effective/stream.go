package effective

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// PolicyStream is an EffectivePolicyList whose items are built while they are written, so that the
// items of many thousand rules are never in memory at once.
type PolicyStream struct {
	Head *EffectivePolicyList // all but the items

	items *effectiveItems
}

// Stream answers as List does.
func Stream(r *resolve.Resolution, q view.Query) *PolicyStream {
	a := collect.New(r, q)
	if q.Targets == nil {
		a.CollectFacts()
	}
	head, items := buildEffective(a)
	return &PolicyStream{head, items}
}

// EachItem calls yield with the items in their order.
func (s *PolicyStream) EachItem(yield func(any) bool) {
	more := true
	s.items.eachItem(func(item *view.EffectivePolicy) bool {
		more = yield(item)
		return more
	})
	for i := range s.Head.ingresses {
		if more = more && yield(&s.Head.ingresses[i]); !more {
			return
		}
	}
}

// Opening is what the answer begins with.
func (s *PolicyStream) Opening() *view.Envelope { return &s.Head.Envelope }

// Empty reports whether there is nothing in the answer.
func (s *PolicyStream) Empty() bool {
	return s.Head.Empty() && len(s.items.positions)+len(s.Head.ingresses) == 0
}

// HasReports reports whether published reports tell what could not be read.
func (s *PolicyStream) HasReports() bool { return s.Head.HasReports() }

// Table needs all items at once.
func (s *PolicyStream) Table(o view.TableOptions) view.Table {
	whole := *s.Head
	whole.Items = append(s.items.buildAll(), s.Head.ingresses...)
	return whole.Table(o)
}

// effectiveItems holds the items of a list before they are built.
type effectiveItems struct {
	collector *collect.Collector
	positions []itemPosition
	batchSize int // how many are made side by side
}

// itemPosition is where an answer is in force, and by which stack.
type itemPosition struct {
	kind  *resolve.Kind
	stack resolve.StackID
	node  topology.NodeID
	paths []view.Path
}

// eachItem builds the items one after the other.
func (e *effectiveItems) eachItem(yield func(*view.EffectivePolicy) bool) {
	for from := 0; from < len(e.positions); from += e.batchSize {
		to := min(from+e.batchSize, len(e.positions))
		e.prepareAnswers(e.positions[from:to])
		items := make([]view.EffectivePolicy, to-from)
		for i, p := range e.positions[from:to] {
			items[i] = e.collector.BuildItem(p.kind, p.node, p.stack, p.paths)
			if !yield(&items[i]) {
				return
			}
		}
		e.dropAnswers(e.positions[from:to], to)
	}
}

// buildAll returns all items.
func (e *effectiveItems) buildAll() []view.EffectivePolicy {
	out := make([]view.EffectivePolicy, 0, len(e.positions))
	for item := range e.eachItem {
		out = append(out, *item)
	}
	return out
}

// prepareAnswers builds the answers that the given positions need and that have not been built.
func (e *effectiveItems) prepareAnswers(places []itemPosition) {
	stacks, targets := map[*resolve.Kind][]resolve.StackID{}, map[*resolve.Kind]map[resolve.StackID][]topology.NodeID{}
	for _, p := range places {
		if !e.collector.LacksAnswer(p.kind, p.stack) {
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
		e.collector.BuildStacks(k, missing, targets[k])
	}
}

// dropAnswers drops the answers of the given positions that no item from next on needs.
func (e *effectiveItems) dropAnswers(places []itemPosition, next int) {
	for _, p := range places {
		e.collector.DropAnswer(p.kind, p.stack, next)
	}
}
