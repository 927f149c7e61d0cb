package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// differ compares two answers.
type differ struct {
	query         DiffQuery
	before, after *side
	items         []PolicyChange
	same          int // effective policies that do not change
	rules         map[pairOfIDs][]RuleChange
	exposed       map[string][]model.Ref // by policy kind, targets that get traffic on new ways without one
}

// subject is what may have results: a policy kind at a target.
type subject struct {
	kind   string
	target model.Ref
}

// results are those of one subject, before and after.
type results struct{ before, after []*EffectivePolicy }

// pairOfIDs names two effective policies by their content.
type pairOfIDs struct{ kind, before, after string }

// compare finds the changes, subject by subject.
func (d *differ) compare() {
	of := make(map[subject]*results, len(d.after.list.Items))
	order := make([]subject, 0, len(d.after.list.Items))
	at := func(item *EffectivePolicy) *results {
		key := subject{item.PolicyKind, item.Target}
		r := of[key]
		if r == nil {
			r = &results{}
			of[key] = r
			order = append(order, key)
		}
		return r
	}
	for i := range d.before.list.Items {
		r := at(&d.before.list.Items[i])
		r.before = append(r.before, &d.before.list.Items[i])
	}
	for i := range d.after.list.Items {
		r := at(&d.after.list.Items[i])
		r.after = append(r.after, &d.after.list.Items[i])
	}
	d.items = []PolicyChange{}
	for _, key := range order {
		if r := of[key]; sameResults(r.before, r.after) {
			d.same += len(r.after)
		} else {
			d.subject(key, r)
		}
	}
	d.expose(of)
}

// sameResults reports whether two lists of results are the same, way by way. That they are not does not mean that something changes.
func sameResults(before, after []*EffectivePolicy) bool {
	return slices.EqualFunc(before, after, func(b, a *EffectivePolicy) bool {
		return b.ID == a.ID && slices.EqualFunc(b.Paths, a.Paths, func(p, q Path) bool { return comparePaths(p, q) == 0 })
	})
}

// onPath is the results of a subject on one way: several where results differ by what the way does not show, as the route that sends to a
// backend.
type onPath struct {
	path          Path
	before, after []*EffectivePolicy
}

// pairing is what becomes of a result, and on which ground.
type pairing struct {
	before, after *EffectivePolicy
	targetChange  string
	unprotected   bool
}

// subject adds the changes of one kind at one target.
func (d *differ) subject(key subject, r *results) {
	ways := d.byPath(r)
	changed := map[*EffectivePolicy]bool{}
	at := map[pairing]int{}
	var found []pairing
	var paths [][]Path
	for i := range ways {
		for _, p := range d.pairUp(key, &ways[i]) {
			n, known := at[p]
			if !known {
				n = len(found)
				at[p] = n
				found, paths = append(found, p), append(paths, nil)
			}
			paths[n] = append(paths[n], ways[i].path)
			changed[p.before], changed[p.after] = true, true
		}
	}
	for _, item := range r.after {
		if !changed[item] {
			d.same++
		}
	}
	for i, p := range found {
		c := d.change(key, p)
		c.partly = len(paths[i]) < len(ways)
		c.Paths = slices.DeleteFunc(paths[i], func(p Path) bool { return p.Key() == Path{}.Key() })
		d.items = append(d.items, c)
	}
}

// trafficPaths are the ways of an item that are held against each other, an empty one where there are none. By which bindings policies come to
// a target is no way of traffic: another one may bring the same.
func (e *EffectivePolicy) trafficPaths() []Path {
	if len(e.Paths) == 0 {
		return []Path{{}}
	}
	if !e.bound() {
		return e.Paths
	}
	var out []Path
	for _, p := range e.Paths {
		p.Binding = ""
		if !hasPath(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// bound reports whether bindings bring the policies to the target.
func (e *EffectivePolicy) bound() bool {
	return slices.ContainsFunc(e.Paths, func(p Path) bool { return p.Binding != "" })
}

// byPath sorts results by way.
func (d *differ) byPath(r *results) []onPath {
	at := map[string]int{}
	var out []onPath
	add := func(items []*EffectivePolicy, side func(*onPath) *[]*EffectivePolicy) {
		for _, item := range items {
			for _, p := range item.trafficPaths() {
				i, known := at[p.Key()]
				if !known {
					i = len(out)
					at[p.Key()] = i
					out = append(out, onPath{path: p})
				}
				list := side(&out[i])
				*list = append(*list, item)
			}
		}
	}
	add(r.before, func(o *onPath) *[]*EffectivePolicy { return &o.before })
	add(r.after, func(o *onPath) *[]*EffectivePolicy { return &o.after })
	slices.SortFunc(out, func(a, b onPath) int { return comparePaths(a.path, b.path) })
	return out
}

// pairUp drops what is the same on one way, and pairs the rest.
func (d *differ) pairUp(key subject, o *onPath) []pairing {
	before, after := without(o.before, o.after), without(o.after, o.before)
	var out []pairing
	for i := range max(len(before), len(after)) {
		p := pairing{}
		if i < len(before) {
			p.before = before[i]
		}
		if i < len(after) {
			p.after = after[i]
		}
		switch {
		case p.after == nil && len(o.after) == 0:
			p.targetChange, p.unprotected = d.lost(key, p.before, o.path, d.before, d.after)
		case p.before == nil && len(o.before) == 0:
			if change, _ := d.lost(key, p.after, o.path, d.after, d.before); change != "" {
				p.targetChange = map[string]string{changeRemoved: changeAdded, targetUnreached: targetReached}[change]
			}
		}
		out = append(out, p)
	}
	return out
}

// without is the results that the others do not have, in an order that depends on nothing but what they are.
func without(results, others []*EffectivePolicy) []*EffectivePolicy {
	left := map[string]int{}
	for _, o := range others {
		left[o.ID]++
	}
	var out []*EffectivePolicy
	for _, r := range results {
		if left[r.ID] > 0 {
			left[r.ID]--
			continue
		}
		out = append(out, r)
	}
	if len(out) > 1 {
		slices.SortStableFunc(out, func(a, b *EffectivePolicy) int {
			return cmp.Or(cmp.Compare(stackText(a), stackText(b)), cmp.Compare(a.ID, b.ID))
		})
	}
	return out
}

// stackText names the policies of a stack.
func stackText(e *EffectivePolicy) string {
	var b strings.Builder
	for _, use := range e.Policies {
		if use.Policy != nil {
			b.WriteString(use.Policy.String())
		}
		b.WriteByte(0)
	}
	return b.String()
}

// change is the item for a pairing.
func (d *differ) change(key subject, p pairing) PolicyChange {
	c := PolicyChange{PolicyKind: key.kind, Target: key.target, Change: changeChanged, TargetChange: p.targetChange, Unprotected: p.unprotected,
		before: p.before, after: p.after}
	ids := pairOfIDs{kind: key.kind}
	if p.before != nil {
		ids.before = p.before.ID
	} else {
		c.Change = changeAdded
	}
	if p.after != nil {
		ids.after = p.after.ID
	} else {
		c.Change = changeRemoved
	}
	rules, known := d.rules[ids]
	if !known {
		rules = ruleChanges(p.before, p.after)
		d.rules[ids] = rules
	}
	c.Rules = rules
	if c.Change == changeChanged {
		c.SourcesOnly = len(rules) > 0 && !slices.ContainsFunc(rules, RuleChange.valueChanges)
		c.Reordered = reordered(p.before, p.after)
	}
	c.Unread = d.unread(key, p)
	c.Unprotected = c.Unprotected && len(c.Unread) == 0
	return c
}

func compareChanges(a, b PolicyChange) int {
	return cmp.Or(compareTargets(a.Target, b.Target), cmp.Compare(a.PolicyKind, b.PolicyKind), slices.CompareFunc(a.Paths, b.Paths, comparePaths), cmp.Compare(a.Change, b.Change))
}
