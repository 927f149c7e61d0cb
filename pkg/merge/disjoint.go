package merge

// Disjoint reports whether two sets of units can stand beside each other: no rule is set in both, whatever its value. Two rules clash if their
// paths are equal or one is a prefix of the other (engine E8). A container without anything in it sets nothing, and rules that a pattern makes
// one of two are no clash.
func Disjoint(a, b []Unit, rules Shape) bool {
	disjoint := true
	meet(rules.settled(a), rules.settled(b), func(int, int) { disjoint = false })
	return disjoint
}

// settled are units as rules that nobody else may set.
func (s Shape) settled(units []Unit) []Unit {
	var out []Unit
	for _, u := range Recut(units, s) {
		if empty := u.hollow() && !s.endsAt(u.Path); !empty && s.combiner(u.Path) == nil {
			out = append(out, u)
		}
	}
	return out
}
