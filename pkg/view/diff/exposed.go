package diff

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// findExposed finds the targets to which traffic comes on a new path without a policy of a kind,
// though they had one on every path before, or on a path that is gone. If a path is gone with its
// policy, the target is unprotected, as its traffic moved. Otherwise nothing may have changed on
// the old paths, and the target is only noted.
func (d *policyComparer) findExposed(of map[kindAtTarget]*resultPair) {
	open := map[kindAtTarget]bool{}
	for key, r := range of {
		if d.isExposed(key, r) {
			open[key] = true
		}
	}
	moved := map[kindAtTarget]bool{}
	for i := range d.items {
		c := &d.items[i]
		key := kindAtTarget{c.PolicyKind, c.Target}
		if c.TargetChange == targetUnreached && open[key] && len(c.Unread) == 0 {
			c.Unprotected = true
		}
		moved[key] = moved[key] || c.Unprotected
	}
	d.exposed = map[string][]model.Ref{}
	for key := range open {
		if !moved[key] && len(d.unreadLists(key, resultChange{})) == 0 {
			d.exposed[key.kind] = append(d.exposed[key.kind], key.target)
		}
	}
}

// isExposed reports whether a target gets traffic on a path such as findExposed looks for.
func (d *policyComparer) isExposed(key kindAtTarget, r *resultPair) bool {
	if len(r.before) == 0 || hasBinding(r.before[0]) {
		return false
	}
	k := d.findKind(key.kind, view.Path{})
	if k == nil || k.Scope != nil {
		return false
	}
	covered := coveredPaths(r.after)
	ways := d.after.pathsTo(k, d.after.res.Lookup(key.target))
	if len(ways) == len(covered) {
		return false
	}
	had, was := coveredPaths(r.before), d.before.pathsTo(k, d.before.res.Lookup(key.target))
	naked := slices.DeleteFunc(slices.Clone(ways), func(p view.Path) bool {
		return hasPath(covered, p) ||
			hasPath(was, p)
	})
	if len(naked) == 0 || len(had) == 0 {
		return false
	}
	return len(had) == len(was) || slices.ContainsFunc(had, func(p view.Path) bool { return !hasPath(ways, p) })
}

// coveredPaths returns the paths on which there are results, sorted, each once.
func coveredPaths(items []*view.EffectivePolicy) []view.Path {
	if len(items) == 1 {
		return items[0].Paths
	}
	var out []view.Path
	for _, item := range items {
		out = append(out, item.Paths...)
	}
	return view.SortPaths(out)
}

func hasPath(paths []view.Path, p view.Path) bool {
	return slices.ContainsFunc(paths, func(q view.Path) bool { return view.ComparePaths(p, q) == 0 })
}
