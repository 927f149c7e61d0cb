package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// policyComparer compares the effective policies of two sides.
type policyComparer struct {
	query         Query
	before, after *comparedSide
	items         []PolicyChange
	unchanged     int // effective policies that do not change
	ruleCache     map[idPair][]RuleChange
	exposed       map[string][]model.Ref // by policy kind, targets that get traffic on new ways without one
}

// kindAtTarget is a policy kind at a target.
type kindAtTarget struct {
	kind   string
	target model.Ref
}

// resultPair is the results of one kind at one target, before and after.
type resultPair struct{ before, after []*view.EffectivePolicy }

// idPair names two effective policies by their content.
type idPair struct{ kind, before, after string }

// findChanges finds the changes, for each policy kind at each target.
func (d *policyComparer) findChanges() {
	of := make(map[kindAtTarget]*resultPair, len(d.after.list.Items))
	order := make([]kindAtTarget, 0, len(d.after.list.Items))
	at := func(item *view.EffectivePolicy) *resultPair {
		key := kindAtTarget{item.PolicyKind, item.Target}
		r := of[key]
		if r == nil {
			r = &resultPair{}
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
			d.unchanged += len(r.after)
		} else {
			d.addChanges(key, r)
		}
	}
	d.findExposed(of)
}

// sameResults reports whether two lists of results are the same, path by path. If they are not,
// that does not mean that something changes.
func sameResults(before, after []*view.EffectivePolicy) bool {
	return slices.EqualFunc(before, after, func(b, a *view.EffectivePolicy) bool {
		return b.ID == a.ID &&
			slices.EqualFunc(b.Paths, a.Paths, func(p, q view.Path) bool { return view.ComparePaths(p, q) == 0 })
	})
}

// pathResults is the results of one kind at one target on one path. There are several where results
// differ by something that the path does not show, such as the route that sends to a backend.
type pathResults struct {
	path          view.Path
	before, after []*view.EffectivePolicy
}

// resultChange is a result before and the one after, and whether the target or its traffic is why
// they differ.
type resultChange struct {
	before, after *view.EffectivePolicy
	targetChange  string
	unprotected   bool
}

// addChanges adds the changes of one kind at one target.
func (d *policyComparer) addChanges(key kindAtTarget, r *resultPair) {
	ways := d.groupByPath(r)
	changed := map[*view.EffectivePolicy]bool{}
	at := map[resultChange]int{}
	var found []resultChange
	var paths [][]view.Path
	for i := range ways {
		for _, p := range d.pairResults(key, &ways[i]) {
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
			d.unchanged++
		}
	}
	for i, p := range found {
		c := d.buildChange(key, p)
		c.onSomePaths = len(paths[i]) < len(ways)
		c.Paths = slices.DeleteFunc(paths[i], func(p view.Path) bool { return p.Key() == view.Path{}.Key() })
		d.items = append(d.items, c)
	}
}

// comparedPaths returns the paths of an item that are compared, an empty one if there are none. The
// bindings that bring policies to a target are left out, as another binding may bring the same.
func comparedPaths(e *view.EffectivePolicy) []view.Path {
	if len(e.Paths) == 0 {
		return []view.Path{{}}
	}
	if !hasBinding(e) {
		return e.Paths
	}
	var out []view.Path
	for _, p := range e.Paths {
		p.Binding = ""
		if !hasPath(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// hasBinding reports whether bindings bring the policies to the target.
func hasBinding(e *view.EffectivePolicy) bool {
	return slices.ContainsFunc(e.Paths, func(p view.Path) bool { return p.Binding != "" })
}

// groupByPath groups results by path.
func (d *policyComparer) groupByPath(r *resultPair) []pathResults {
	at := map[string]int{}
	var out []pathResults
	add := func(items []*view.EffectivePolicy, side func(*pathResults) *[]*view.EffectivePolicy) {
		for _, item := range items {
			for _, p := range comparedPaths(item) {
				i, known := at[p.Key()]
				if !known {
					i = len(out)
					at[p.Key()] = i
					out = append(out, pathResults{path: p})
				}
				list := side(&out[i])
				*list = append(*list, item)
			}
		}
	}
	add(r.before, func(o *pathResults) *[]*view.EffectivePolicy { return &o.before })
	add(r.after, func(o *pathResults) *[]*view.EffectivePolicy { return &o.after })
	slices.SortFunc(out, func(a, b pathResults) int { return view.ComparePaths(a.path, b.path) })
	return out
}

// pairResults drops the results that are the same on one path, and pairs the rest.
func (d *policyComparer) pairResults(key kindAtTarget, o *pathResults) []resultChange {
	before, after := subtractResults(o.before, o.after), subtractResults(o.after, o.before)
	var out []resultChange
	for i := range max(len(before), len(after)) {
		p := resultChange{}
		if i < len(before) {
			p.before = before[i]
		}
		if i < len(after) {
			p.after = after[i]
		}
		switch {
		case p.after == nil && len(o.after) == 0:
			p.targetChange, p.unprotected = d.classifyLoss(key, p.before, o.path, d.before, d.after)
		case p.before == nil && len(o.before) == 0:
			if change, _ := d.classifyLoss(key, p.after, o.path, d.after, d.before); change != "" {
				p.targetChange = map[string]string{changeRemoved: changeAdded, targetUnreached: targetReached}[change]
			}
		}
		out = append(out, p)
	}
	return out
}

// subtractResults returns the results that the others do not have, in an order that depends only on
// the results.
func subtractResults(results, others []*view.EffectivePolicy) []*view.EffectivePolicy {
	left := map[string]int{}
	for _, o := range others {
		left[o.ID]++
	}
	var out []*view.EffectivePolicy
	for _, r := range results {
		if left[r.ID] > 0 {
			left[r.ID]--
			continue
		}
		out = append(out, r)
	}
	if len(out) > 1 {
		slices.SortStableFunc(out, func(a, b *view.EffectivePolicy) int {
			return cmp.Or(cmp.Compare(stackKey(a), stackKey(b)), cmp.Compare(a.ID, b.ID))
		})
	}
	return out
}

// stackKey names the policies of a stack.
func stackKey(e *view.EffectivePolicy) string {
	var b strings.Builder
	for _, use := range e.Policies {
		if use.Policy != nil {
			b.WriteString(use.Policy.String())
		}
		b.WriteByte(0)
	}
	return b.String()
}

// buildChange returns the item for a change of a result.
func (d *policyComparer) buildChange(key kindAtTarget, p resultChange) PolicyChange {
	c := PolicyChange{PolicyKind: key.kind, Target: key.target, Change: changeChanged, TargetChange: p.targetChange,
		Unprotected: p.unprotected,
		before:      p.before, after: p.after}
	ids := idPair{kind: key.kind}
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
	rules, known := d.ruleCache[ids]
	if !known {
		rules = findRuleChanges(p.before, p.after)
		d.ruleCache[ids] = rules
	}
	c.Rules = rules
	if c.Change == changeChanged {
		c.SourcesOnly = len(rules) > 0 && !slices.ContainsFunc(rules, RuleChange.hasValueChange)
		c.Reordered = isReordered(p.before, p.after)
	}
	c.Unread = d.unreadLists(key, p)
	c.Unprotected = c.Unprotected && len(c.Unread) == 0
	return c
}

func compareChanges(a, b PolicyChange) int {
	return cmp.Or(view.CompareTargets(a.Target, b.Target), cmp.Compare(a.PolicyKind, b.PolicyKind),
		slices.CompareFunc(a.Paths, b.Paths, view.ComparePaths), cmp.Compare(a.Change, b.Change))
}
