package render

import "testing"

// TestMarkChanges: rows that came and went are marked where they are; that columns became wider, or
// colours are others, is no change.
func TestMarkChanges(t *testing.T) {
	for _, tc := range []struct {
		name, before, after, want string
		added, removed            int
	}{
		{"nothing", "A  B\n1  2\n\nend\n", "A  B\n1  2\n\nend\n", "  A  B\n  1  2\n\n  end\n", 0, 0},
		{"wider columns", "A  B\n1  2\n", "A    B\n1    2\nlong 3\n", "  A    B\n  1    2\n+ long 3\n", 1, 0},
		{"a changed row", "A\n1 old\n2\n\nend\n", "A\n1 new\n2\n\nend\n", "  A\n- 1 old\n+ 1 new\n  2\n\n  end\n", 1, 1},
		{"a last row that is gone", "A\n1\n2\n\nend\n", "A\n1\n\nend\n", "  A\n  1\n- 2\n\n  end\n", 0, 1},
		{"all is other", "a\nb\n", "c\n", "- a\n- b\n+ c\n", 1, 2},
		{"equal rows", "r\nr\n", "r\n", "- r\n  r\n", 0, 1},
		{"colours", "\x1b[32mforce\x1b[0m\n", "force\n", "  force\n", 0, 0},
		{"nothing before", "", "a\n", "+ a\n", 1, 0},
		{"the order", "a\nb\n", "b\na\n", "  b\n  a\n", 0, 0},
	} {
		got, added, removed := MarkChanges(tc.before, tc.after, false)
		if got != tc.want || added != tc.added || removed != tc.removed {
			t.Errorf("%s: +%d -%d\n%s", tc.name, added, removed, got)
		}
	}
	if got, _, _ := MarkChanges("a\n", "b\n", true); got != "\x1b[31m-\x1b[0m a\n\x1b[32m+\x1b[0m b\n" {
		t.Errorf("in colour: %q", got)
	}
}
