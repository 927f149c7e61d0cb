package merge

import (
	"strconv"
	"strings"
	"testing"
)

// worth is one layer that merges, of whose settings those with an empty text count as zero values.
func worth(settings m) Layer {
	b := block(Bare, "merge", settings)
	for i := range b.Units {
		b.Units[i].Zero = b.Units[i].Value == ""
	}
	return Layer{Level: "route", Blocks: []Block{b}}
}

func TestZeroValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  m // most specific, or established where layers fill
		second m
		want   string
	}{
		{"alone it is a value", m{"a": m{"x": ""}}, m{}, "a.x=(0)"},
		{"it gives way to a value of the weaker set", m{"a": m{"x": "", "y": "1"}}, m{"a": m{"x": "2"}},
			"a.x=2(1) -a.x(0) NoEffect>(1) a.y=1(0)"},
		{"it gives way, though nothing else is set", m{"a": m{"x": ""}}, m{"a": m{"x": "2"}},
			"a.x=2(1) -a.x(0) NoEffect>(1)"},
		{"it fills nothing", m{"a": m{"y": "1"}}, m{"a": m{"x": ""}}, "a.y=1(0) -a.x(1) NoEffect>()"},
		{"it loses to a value like any other", m{"a": m{"x": "1"}}, m{"a": m{"x": ""}}, "a.x=1(0) -a.x(1) LOST>(0)"},
		{"of two the stronger stays", m{"a": m{"x": ""}}, m{"a": m{"x": ""}}, "a.x=(0) -a.x(1) LOST>(0)"},
	} {
		checkZero(t, c.name, "MoreSpecificWins", c.want, one, worth(c.second), worth(c.first), []int{1, 0})
		checkZero(t, c.name+" (filled)", "SameLevelOrder", c.want, []Plan{{SameTarget: Fill}}, worth(c.first),
			worth(c.second), []int{0, 1})
	}
}

// checkZero folds two layers; number says which of them the wanted text calls 0 and 1.
func checkZero(t *testing.T, name, lost, want string, plans []Plan, high, low Layer, number []int) {
	t.Helper()
	if number[0] == 1 {
		low.Level = "rule"
	}
	got := say(Fold(plans, entries, Stack{Layers: []Layer{high, low}}))
	replaced := strings.NewReplacer("(0b)", "("+strconv.Itoa(number[0])+")", "(1b)", "("+strconv.Itoa(number[1])+")",
		lost, "LOST").Replace(got)
	if replaced != want {
		t.Errorf("%s: %s, want %s", name, replaced, want)
	}
}
