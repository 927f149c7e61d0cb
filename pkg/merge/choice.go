package merge

import "slices"

// ChoiceOf returns the name of the choice that the unit at a path is one of; "" for units that
// stand for themselves.
func (s Shape) ChoiceOf(p Path) string {
	for i := range s {
		if s[i].Choice != "" && s[i].fitsPath(p) {
			return s[i].Choice
		}
	}
	return ""
}

// dropOtherChoices takes out the units of the losing side for which the winning side has chosen
// something else: only one unit of a choice can be in force. A zero value of the winning side
// chooses nothing.
func (f unitFilter) dropOtherChoices(acc *accumulator, in []Unit, st *Step) []Unit {
	chosen := func(u Unit) bool { return u.Choice != "" }
	if !slices.ContainsFunc(acc.units, chosen) || !slices.ContainsFunc(in, chosen) {
		return in
	}
	if st.Strategy.Wins == Lower {
		in = f.withoutOtherChoices(acc.units, in, st, Dropped, MoreSpecificWins)
		acc.units = f.withoutOtherChoices(in, acc.units, st, Replaced, NoEffect)
		return in
	}
	acc.units = f.withoutOtherChoices(in, acc.units, st, Replaced, LessSpecificOverrides)
	return f.withoutOtherChoices(acc.units, in, st, Dropped, NoEffect)
}

// withoutOtherChoices returns the weak side without the units that lose to another choice of the
// strong one.
func (f unitFilter) withoutOtherChoices(strong, weak []Unit, st *Step, o Action, reason Reason) []Unit {
	return slices.DeleteFunc(slices.Clone(weak), func(u Unit) bool {
		if u.Choice == "" {
			return false
		}
		at := slices.IndexFunc(strong, func(s Unit) bool {
			return s.Choice == u.Choice && s.Path.encode() != u.Path.encode() &&
				(!s.Zero || u.Zero && reason != NoEffect)
		})
		if at < 0 || reason == NoEffect && !u.Zero {
			return false
		}
		f.recordLoss(st, u, o, reason, strong[at].From)
		return true
	})
}
