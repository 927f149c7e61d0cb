package protect

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// Of more facts than combinations are tried of, lists of rules are still told apart.
func TestJudgeMany(t *testing.T) {
	const many = 3 * mostFacts
	for name, c := range map[string]struct {
		last      bool // what is decided where no rule matches
		kind      FactKind
		allows    bool // what a rule decides that matches
		anonymous gate.Verdict
		refuses   gate.Verdict
		denies    bool
	}{
		"identities that are allowed": {kind: Identity, allows: true, anonymous: gate.Holds,
			refuses: gate.Holds},
		"expressions that are allowed": {kind: Unknown, allows: true, anonymous: gate.Depends,
			refuses: gate.Holds},
		"everything is allowed whatever matches": {last: true, kind: Identity, allows: true, anonymous: gate.Fails,
			refuses: gate.Fails},
		"nothing is allowed whatever matches": {kind: Identity, anonymous: gate.Holds, refuses: gate.Holds,
			denies: true},
		"identities that are denied, else nobody": {last: true, kind: Identity, anonymous: gate.Fails,
			refuses: gate.Holds},
	} {
		var d Decision
		for range many {
			d.AddFact(c.kind)
		}
		d.Allows = func(holds func(Fact) bool) bool {
			for f := range many {
				if holds(Fact(f)) {
					return c.allows
				}
			}
			return c.last
		}
		got := d.Judge()
		if got.Anonymous != c.anonymous || got.Refuses != c.refuses || got.DeniesAll != c.denies {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	// A decision that looks at every fact has too many ways.
	d := Decision{Allows: func(holds func(Fact) bool) bool {
		for f := range many {
			holds(Fact(f))
		}
		return true
	}}
	for range many {
		d.AddFact(Identity)
	}
	if got := d.Judge(); got.Refuses != gate.Depends || got.DeniesAll {
		t.Errorf("too many ways: got %+v", got)
	}
}
