package merge

import "slices"

// Disjoint reports whether two sets of units can stand beside each other: no rule is set in both, whatever its value. Two rules clash if their
// paths are equal or one is a prefix of the other (engine E8). A container without anything in it sets nothing. Rules that a pattern makes
// one of two are no clash, nor are entries of lists that have nothing but a number.
func Disjoint(a, b []Unit, rules Shape) bool {
	disjoint := true
	eachClash(rules.claimed(a), rules.claimed(b), func(int, int) { disjoint = false })
	return disjoint
}

// claimed are units as rules that nobody else may set.
func (s Shape) claimed(units []Unit) []Unit {
	var out []Unit
	for _, u := range Recut(units, s) {
		if empty := u.hollow() && !s.endsAt(u.Path); !empty && s.combiner(u.Path) == nil && !s.numbers(u.Path) {
			out = append(out, u)
		}
	}
	return out
}

// numbers reports whether a path leads to or into an entry of a list that has no name but its number.
func (s Shape) numbers(p Path) bool {
	for i, seg := range p {
		if seg.Form != Key && slices.ContainsFunc(s, func(pt Pattern) bool { return pt.Numbers && pt.fits(p[:i]) }) {
			return true
		}
	}
	return false
}
