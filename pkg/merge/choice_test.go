package merge

import "testing"

// choices cuts as entries do; the entries x and y of a exclude each other.
var choices = Shape{{Path: Path{{Form: Any}, {Form: Any}}}, {Path: KeyPath("a", "x"), Choice: "c"},
	{Path: KeyPath("a", "y"), Choice: "c"}}

func TestChoices(t *testing.T) {
	choosing := func(settings m) Layer {
		l := worth(settings)
		for i := range l.Blocks[0].Units {
			u := &l.Blocks[0].Units[i]
			u.Choice = choices.ChoiceOf(u.Path)
		}
		return l
	}
	for _, c := range []struct {
		name          string
		first, second m
		want          string
	}{
		{"another choice loses", m{"a": m{"x": "1"}}, m{"a": m{"y": "2", "z": "2"}},
			"a.x=1(0) a.z=2(1) -a.y(1) LOST>(0)"},
		{"the same one as well", m{"a": m{"x": "1"}}, m{"a": m{"x": "2"}}, "a.x=1(0) -a.x(1) LOST>(0)"},
		{"a zero value chooses nothing", m{"a": m{"x": "", "z": "1"}}, m{"a": m{"y": "2"}},
			"a.y=2(1) a.z=1(0) -a.x(0) NoEffect>(1)"},
		{"but where both are", m{"a": m{"x": ""}}, m{"a": m{"y": ""}}, "a.x=(0) -a.y(1) LOST>(0)"},
	} {
		checkZero(t, c.name, "MoreSpecificWins", c.want, one, choosing(c.second), choosing(c.first), []int{1, 0})
		checkZero(t, c.name+" (filled)", "SameLevelOrder", c.want, []Plan{{SameTarget: Fill}}, choosing(c.first),
			choosing(c.second), []int{0, 1})
	}
}
