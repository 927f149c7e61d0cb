package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// expose finds the targets to which traffic comes on a way that is new and on which no policy of a kind is in force, though they had one on
// every way before, or on a way that is gone. Where a way is gone with its policy, the target is unprotected: its traffic moved. Else
// nothing may have changed on the old ways, and the target is only noted.
func (d *differ) expose(of map[subject]*results) {
	open := map[subject]bool{}
	for key, r := range of {
		if d.opened(key, r) {
			open[key] = true
		}
	}
	moved := map[subject]bool{}
	for i := range d.items {
		c := &d.items[i]
		key := subject{c.PolicyKind, c.Target}
		if c.TargetChange == targetUnreached && open[key] && len(c.Unread) == 0 {
			c.Unprotected = true
		}
		moved[key] = moved[key] || c.Unprotected
	}
	d.exposed = map[string][]model.Ref{}
	for key := range open {
		if !moved[key] && len(d.unread(key, pairing{})) == 0 {
			d.exposed[key.kind] = append(d.exposed[key.kind], key.target)
		}
	}
}

// opened reports whether a target gets traffic on a way as expose looks for.
func (d *differ) opened(key subject, r *results) bool {
	if len(r.before) == 0 || r.before[0].bound() {
		return false
	}
	k := d.kindOf(key.kind, Path{})
	if k == nil || k.Scope != nil {
		return false
	}
	covered := coveredPaths(r.after)
	ways := d.after.pathsTo(k, d.after.res.Lookup(key.target))
	if len(ways) == len(covered) {
		return false
	}
	had, was := coveredPaths(r.before), d.before.pathsTo(k, d.before.res.Lookup(key.target))
	naked := slices.DeleteFunc(slices.Clone(ways), func(p Path) bool { return hasPath(covered, p) || hasPath(was, p) })
	if len(naked) == 0 || len(had) == 0 {
		return false
	}
	return len(had) == len(was) || slices.ContainsFunc(had, func(p Path) bool { return !hasPath(ways, p) })
}

// coveredPaths are the ways on which a subject has results, sorted, each once.
func coveredPaths(items []*EffectivePolicy) []Path {
	if len(items) == 1 {
		return items[0].Paths
	}
	var out []Path
	for _, item := range items {
		out = append(out, item.Paths...)
	}
	return inOrder(out)
}

func hasPath(paths []Path, p Path) bool {
	return slices.ContainsFunc(paths, func(q Path) bool { return comparePaths(p, q) == 0 })
}
