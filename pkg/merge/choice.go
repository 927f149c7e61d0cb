package merge

import "slices"

// Choices names the choice that a unit is one of, by the patterns; "" for units that stand for themselves.
func (s Shape) Choices(p Path) string {
	for i := range s {
		if s[i].Choice != "" && s[i].fits(p) {
			return s[i].Choice
		}
	}
	return ""
}

// choose takes out of a merge the units of the losing side for which the other one has chosen something else: only one unit of a choice can be
// in force. A zero value of the winning side chooses nothing.
func (f sifter) choose(acc *accumulator, in []Unit, st *Step) []Unit {
	chosen := func(u Unit) bool { return u.Choice != "" }
	if !slices.ContainsFunc(acc.units, chosen) || !slices.ContainsFunc(in, chosen) {
		return in
	}
	if st.Strategy.Wins == Lower {
		in = f.unchosen(acc.units, in, st, Dropped, MoreSpecificWins)
		acc.units = f.unchosen(in, acc.units, st, Replaced, NoEffect)
		return in
	}
	acc.units = f.unchosen(in, acc.units, st, Replaced, LessSpecificOverrides)
	return f.unchosen(acc.units, in, st, Dropped, NoEffect)
}

// unchosen is the weak side without the units that lose to another choice of the strong one.
func (f sifter) unchosen(strong, weak []Unit, st *Step, o Action, reason Reason) []Unit {
	return slices.DeleteFunc(slices.Clone(weak), func(u Unit) bool {
		if u.Choice == "" {
			return false
		}
		at := slices.IndexFunc(strong, func(s Unit) bool {
			return s.Choice == u.Choice && s.Path.code() != u.Path.code() && (!s.Zero || u.Zero && reason != NoEffect)
		})
		if at < 0 || reason == NoEffect && !u.Zero {
			return false
		}
		f.lose(st, u, o, reason, strong[at].From)
		return true
	})
}
