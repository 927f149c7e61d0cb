package merge

import "slices"

// IsDisjoint reports whether two sets of units can stand beside each other: no rule is set in both,
// whatever its value. Two rules clash if their paths are equal or one is a prefix of the other
// (engine E8). An empty container sets nothing. Rules that a pattern combines do not clash, nor do
// entries of lists that have only a number.
func IsDisjoint(a, b []Unit, rules Shape) bool {
	disjoint := true
	eachClash(rules.exclusiveRules(a), rules.exclusiveRules(b), func(int, int) { disjoint = false })
	return disjoint
}

// exclusiveRules cuts units into rules and keeps those that nobody else may set.
func (s Shape) exclusiveRules(units []Unit) []Unit {
	var out []Unit
	for _, u := range Recut(units, s) {
		if empty := u.isEmpty() && !s.cutsAt(u.Path); !empty && s.findCombiner(u.Path) == nil &&
			!s.isInNumberedList(u.Path) {
			out = append(out, u)
		}
	}
	return out
}

// isInNumberedList reports whether a path leads to or into an entry of a list that has no name but
// its number.
func (s Shape) isInNumberedList(p Path) bool {
	for i, seg := range p {
		if seg.Form != Key && slices.ContainsFunc(s, func(pt Pattern) bool {
			return pt.Numbers &&
				pt.fitsPath(p[:i])
		}) {
			return true
		}
	}
	return false
}
