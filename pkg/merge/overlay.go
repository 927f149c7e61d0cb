package merge

// clash is a unit that lost, and the units of the other side that it clashed with.
type clash struct {
	unit    Unit
	by      []Unit
	void    bool // an empty object that the other side fills: it says nothing
	winning bool // the unit is of the winning side; such a one can only be void
}

// overlay lays one side over the other. Two units clash if their paths are equal or one is a prefix of the other; then the loser's
// goes. An empty object does not clash with what the other side puts into it.
// Kept are the winner's units that say something, and rest the loser's that stand, in their orders.
func overlay(winner, loser []Unit) (kept, rest []Unit, clashes []clash) {
	wins, losers := index(winner), index(loser)
	for _, w := range winner {
		if deeper := losers.deeper[w.key()]; isEmpty(w) && len(deeper) > 0 {
			clashes = append(clashes, clash{unit: w, by: pick(loser, deeper), void: true, winning: true})
			continue
		}
		kept = append(kept, w)
	}
	for _, l := range loser {
		over := wins.meeting(l, winner)
		if len(over) == 0 {
			rest = append(rest, l)
			continue
		}
		void := isEmpty(l) && len(wins.deeper[l.key()]) > 0
		clashes = append(clashes, clash{unit: l, by: pick(winner, over), void: void})
	}
	return kept, rest, clashes
}

func isEmpty(u Unit) bool {
	m, ok := u.Value.(map[string]any)
	return ok && len(m) == 0
}

// hollow reports whether u has nothing in it.
func (u *Unit) hollow() bool { return isEmpty(*u) || u.Value == nil && !u.Null && u.Parts == nil }

func pick(units []Unit, at []int) []Unit {
	out := make([]Unit, len(at))
	for i, j := range at {
		out[i] = units[j]
	}
	return out
}

// table finds units by path: at a path, and below it.
type table struct{ equal, deeper map[string][]int }

func index(units []Unit) table {
	t := table{make(map[string][]int, len(units)), make(map[string][]int, 2*len(units))}
	for i := range units {
		code := units[i].key()
		t.equal[code] = append(t.equal[code], i)
		for up := range ancestorsOf(code) {
			t.deeper[up] = append(t.deeper[up], i)
		}
	}
	return t
}

// meeting lists the winner's units that u clashes with.
func (t table) meeting(u Unit, winner []Unit) []int {
	code := u.key()
	out := append(t.equal[code][:len(t.equal[code]):len(t.equal[code])], t.deeper[code]...)
	for up := range ancestorsOf(code) {
		for _, i := range t.equal[up] {
			if !isEmpty(winner[i]) {
				out = append(out, i)
			}
		}
	}
	return out
}

func ancestorsOf(code string) func(func(string) bool) {
	return func(yield func(string) bool) { ancestors(code, yield) }
}

// key is the unit's path in comparable form.
func (u *Unit) key() string {
	if u.code == "" && len(u.Path) > 0 {
		u.code = u.Path.code()
	}
	return u.code
}
