package merge

import (
	"fmt"
	"testing"
)

func TestUnite(t *testing.T) { // all values hold, the established one's first; one that overrides drops what is below
	unit := func(layer int, value any) Unit {
		return Unit{Path: Keys("a"), Value: value, From: []From{{Layer: layer}}}
	}
	two, _ := Unite(unit(1, []any{"x"}), unit(2, "y"), Lower)
	three, _ := Unite(unit(0, "z"), two, Lower)
	if got := fmt.Sprint(three.Value, three.From); got != "[z [x] y] [{0 defaults false} {1 defaults false} {2 defaults false}]" {
		t.Errorf("got %s", got)
	}
	one, effects := Unite(unit(0, "z"), two, Higher)
	if fmt.Sprint(one.Value) != "z" || len(one.From) != 1 || effects[0].Action != Replaced || effects[0].Reason != LessSpecificOverrides || effects[1].Action != Joined {
		t.Errorf("got %+v with %+v", one, effects)
	}
}
