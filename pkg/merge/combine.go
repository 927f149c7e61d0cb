package merge

import "slices"

// AppendLists is a CombineFunc that joins two lists, the established one's entries first, and keeps
// what both wrote. Values that are no lists are left to the strategy.
func AppendLists(established, lower Unit, _ Side) (Unit, []Effect) {
	high, isList := Unpack(established.Value).([]any)
	low, both := Unpack(lower.Value).([]any)
	if !isList || !both {
		return Unit{}, nil
	}
	out := Unit{Path: lower.Path, Value: slices.Concat(high, low)}
	switch {
	case len(low) == 0 && len(high) > 0:
		out.From = established.From
	case len(high) == 0 && len(low) > 0:
		out.From = lower.From
	default:
		out.From = sourcesOf([]Unit{established, lower})
	}
	return out, joinEffects(out, established, lower)
}

// UniteValues is a CombineFunc for settings that hold beside each other: all values are kept, in a
// list if there are several, the established one's first. Where the established one overrides, what
// is below it is dropped.
func UniteValues(established, lower Unit, wins Side) (Unit, []Effect) {
	if wins == Higher {
		effects := joinEffects(established, established, lower)
		for i := range effects {
			if effects[i].Action == Replaced {
				effects[i].Reason = LessSpecificOverrides
			}
		}
		return established, effects
	}
	high, above := established.unionValues()
	low, below := lower.unionValues()
	out := Unit{Path: lower.Path, Value: slices.Concat(high, low), From: sourcesOf([]Unit{established, lower}),
		Items: slices.Concat(above, below)}
	return out, joinEffects(out, established, lower)
}

// unionValues returns the values of a unit that a union has made, or its one value, with their
// sources.
func (u *Unit) unionValues() ([]any, [][]Source) {
	if list, ok := u.Value.([]any); ok && len(u.Items) > 0 {
		return list, u.Items
	}
	return []any{u.Value}, [][]Source{u.From}
}

// mergeEntries combines two entries of a keyed list that have one key as a merge patch does, the
// winner's being the patch. A patch that leaves nothing of the other one replaces it.
func mergeEntries(established, lower Unit, wins Side) (Unit, []Effect) {
	base, patch := established, lower
	if wins == Higher {
		base, patch = lower, established
	}
	out := Unit{Path: lower.Path, Value: ApplyMergePatch(Unpack(base.Value), Unpack(patch.Value)),
		From: sourcesOf([]Unit{established, lower})}
	if Equal(out.Value, patch.Value) {
		out.From = patch.From
	}
	return out, joinEffects(out, established, lower)
}

// ApplyMergePatch returns target with an RFC 7386 patch applied. Neither argument is changed.
func ApplyMergePatch(target, patch any) any {
	over, object := patch.(map[string]any)
	if !object {
		return patch
	}
	under, _ := target.(map[string]any)
	out := make(map[string]any, len(under)+len(over))
	for k, v := range under {
		if _, also := over[k]; !also {
			out[k] = v
		}
	}
	for k, v := range over {
		if v != nil {
			out[k] = ApplyMergePatch(under[k], v)
		}
	}
	return out
}

// joinEffects returns the effects of making one unit of two: a side that is no source of it has
// lost.
func joinEffects(out, established, lower Unit) []Effect {
	var effects []Effect
	for _, side := range []struct {
		unit, other Unit
		lost        Action
	}{{lower, established, Replaced}, {established, lower, Dropped}} {
		e := newEffect(&side.unit, Joined, side.other.From)
		if !slices.ContainsFunc(side.unit.From, func(f Source) bool { return slices.Contains(out.From, f) }) {
			e.Action, e.Reason = side.lost, MoreSpecificWins
			if list, ok := Unpack(side.unit.Value).([]any); ok && len(list) == 0 {
				e.Reason = NoEffect
			}
		}
		effects = append(effects, e)
	}
	return effects
}

// findCombiner returns the function that makes one unit of two at a path; nil if the shape has
// none.
func (s Shape) findCombiner(p Path) CombineFunc {
	for i := range s {
		pt := &s[i]
		switch {
		case pt.Order == PatchOrder && pt.Keys != nil && len(p) > 0 && p[len(p)-1].Form == pt.As &&
			pt.fitsPath(p[:len(p)-1]):
			return mergeEntries
		case pt.Combine == nil && !pt.Append || !pt.fitsPath(p):
		case pt.Combine != nil:
			return pt.Combine
		default:
			return AppendLists
		}
	}
	return nil
}

// fitsPath reports whether the pattern means exactly the path. A Deep segment stands for any number
// of keys.
func (pt *Pattern) fitsPath(p Path) bool { return segmentsFit(pt.Path, p) }

func segmentsFit(want, p Path) bool {
	for i, w := range want {
		if w.Form == Deep {
			for skip := i; skip <= len(p); skip++ {
				if segmentsFit(want[i+1:], p[skip:]) {
					return true
				}
				if skip < len(p) && p[skip].Form != Key {
					return false
				}
			}
			return false
		}
		if i >= len(p) || p[i].Form != Key || !w.matchesKey(p[i].Name) {
			return false
		}
	}
	return len(p) == len(want)
}

// matchesKey reports whether a segment of a pattern stands for the key.
func (s Segment) matchesKey(key string) bool {
	switch s.Form {
	case Any:
		return true
	case Prefix:
		return len(key) > len(s.Name) && key[:len(s.Name)] == s.Name && key[len(s.Name)] >= 'A' &&
			key[len(s.Name)] <= 'Z'
	}
	return s.Name == key
}

// hasCombiner reports whether the shape makes one unit of two anywhere.
func (s Shape) hasCombiner() bool {
	return slices.ContainsFunc(s, func(p Pattern) bool { return p.Append || p.Combine != nil || p.Order == PatchOrder })
}

// combineUnits joins the units of the two sides that stand at one path where the shape says so. The
// joined unit takes the place of the lower side's; its sources are both.
func (f *stackFold) combineUnits(shape Shape, low, high []Unit, st *Step) (rest, added []Unit) {
	if !shape.hasCombiner() {
		return low, high
	}
	at := make(map[string]int, len(low))
	for i := range low {
		at[low[i].Path.encode()] = i
	}
	low = slices.Clone(low)
	for _, u := range high {
		i, met := at[u.Path.encode()]
		join := shape.findCombiner(u.Path)
		if !met || join == nil || u.Null || low[i].Null {
			added = append(added, u)
			continue
		}
		unit, effects := join(u, low[i], st.Strategy.Wins)
		if unit.From == nil {
			added = append(added, u)
			continue
		}
		encodePaths(effects)
		st.Effects = append(st.Effects, effects...)
		low[i] = unit
	}
	return low, added
}

// reorderEntries puts the entries of keyed lists with PatchOrder into the order of a strategic
// merge patch, the patch being the winning side, and those with KeyOrder into that of their keys.
func (s Shape) reorderEntries(units, target, patch []Unit) []Unit {
	for i := range s {
		pt := &s[i]
		switch {
		case pt.Keys == nil:
		case pt.Order == KeyOrder:
			for list, names := range pt.entryNamesByList(units) {
				slices.Sort(names)
				units = arrangeEntries(units, list, names)
			}
		case pt.Order == PatchOrder:
			before := pt.entryNamesByList(target)
			for list, names := range pt.entryNamesByList(patch) {
				units = arrangeEntries(units, list, patchOrder(before[list], names))
			}
		}
	}
	return units
}

// entryNamesByList returns the names of the entries of the pattern's lists, by list.
func (pt *Pattern) entryNamesByList(side []Unit) map[string][]string {
	out := map[string][]string{}
	for _, u := range side {
		if n := len(u.Path) - 1; n >= 0 && u.Path[n].Form == pt.As && pt.fitsPath(u.Path[:n]) {
			list := u.Path[:n].encode()
			out[list] = append(out[list], u.Path[n].Name)
		}
	}
	return out
}

// arrangeEntries puts the entries of one list into the given order, in the places that they have.
func arrangeEntries(units []Unit, list string, names []string) []Unit {
	rank := make(map[string]int, len(names))
	for i, n := range names {
		rank[n] = i
	}
	var places []int
	var entries []Unit
	for i, u := range units {
		if n := len(u.Path) - 1; n >= 0 && u.Path[n].Form != Key && u.Path[:n].encode() == list {
			places, entries = append(places, i), append(entries, u)
		}
	}
	slices.SortStableFunc(entries,
		func(a, b Unit) int { return rank[a.Path[len(a.Path)-1].Name] - rank[b.Path[len(b.Path)-1].Name] })
	out := slices.Clone(units)
	for i, at := range places {
		out[at] = entries[i]
	}
	return out
}

// patchOrder is the order in which a strategic merge patch leaves the entries of a keyed list:
// those of the patch in its order, each behind the entries that are the target's alone and stood
// before it there.
func patchOrder(target, patch []string) []string {
	position := make(map[string]int, len(target))
	for i, n := range target {
		position[n] = i
	}
	left := slices.DeleteFunc(slices.Clone(target), func(n string) bool { return slices.Contains(patch, n) })
	var out []string
	for _, n := range patch {
		if at, known := position[n]; known {
			for len(left) > 0 && position[left[0]] < at {
				out, left = append(out, left[0]), left[1:]
			}
		}
		out = append(out, n)
	}
	return append(out, left...)
}
