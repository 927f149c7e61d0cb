package merge

import (
	"fmt"
	"testing"
)

func TestUnite(t *testing.T) { // all values hold, the established one's first; one that overrides drops what is below
	unit := func(layer int, value any) Unit {
		return Unit{Path: KeyPath("a"), Value: value, From: []Source{{Layer: layer}}}
	}
	two, _ := UniteValues(unit(1, []any{"x"}), unit(2, "y"), Lower)
	three, _ := UniteValues(unit(0, "z"), two, Lower)
	if got := fmt.Sprint(three.Value,
		three.From); got != "[z [x] y] [{0 defaults false} {1 defaults false} {2 defaults false}]" {
		t.Errorf("got %s", got)
	}
	one, effects := UniteValues(unit(0, "z"), two, Higher)
	if fmt.Sprint(one.Value) != "z" || len(one.From) != 1 || effects[0].Action != Replaced ||
		effects[0].Reason != LessSpecificOverrides || effects[1].Action != Joined {
		t.Errorf("got %+v with %+v", one, effects)
	}
}
