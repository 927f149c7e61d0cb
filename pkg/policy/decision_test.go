package policy

import (
	"strings"
	"testing"
)

// What decided is the first key that tells two policies apart, told with what it found; what stands before it in the comparator is not.
func TestDecide(t *testing.T) { // engine E9
	weight := Key{By: ByAnnotation, At: []string{"weight"}, Number: true, Descending: true, Absent: "0"}
	created, name := Key{By: ByCreated}, Key{By: ByNamespacedName}
	tier := Key{By: ByFunc, Func: func(a, b *Attached) int { return a.Index - b.Index }}
	called := tier
	called.Called = "tier"
	for _, c := range []struct {
		keys                  []Key
		winner, loser         string // "name key=value …", the position before others if it comes first
		secondWon, secondLost string // creation times, "": not known
		want                  string
	}{
		{[]Key{weight, created, name}, "b weight=10", "a", "2", "1", "comes first (by annotation weight: 10 before 0)"},
		{[]Key{weight, created, name}, "b weight=x", "a weight=-1.5", "2", "1", "comes first (by annotation weight: 0 before -1.5)"},
		{[]Key{weight, created, name}, "b weight=5", "a weight=5.0", "1", "2", "is older"},
		{[]Key{weight, created, name}, "b", "a", "2", "1", "is newer; among defaults the newest wins"},
		{[]Key{weight, created, name}, "a", "b", "", "1", "comes first (by name: no creation time)"},
		{[]Key{created, name}, "b", "a", "1", "1", "comes last (by name: created in the same second); among defaults the last one wins"},
		{[]Key{name, created}, "a", "b", "2", "1", "comes first (by name)"},
		{[]Key{{By: ByField, At: []string{"spec", "priority"}, Number: true}, created}, "b priority=5", "a priority=10", "2", "1", "comes first (by spec.priority: 5 before 10)"},
		{[]Key{{By: ByField, At: []string{"spec", "priority"}, Number: true, Called: "priority"}, created}, "b priority=50", "a priority=10", "2", "1", "comes last (by priority: 50 after 10); among defaults the last one wins"},
		{[]Key{{By: ByField, At: []string{"spec", "port"}, Present: true}, created}, "b", "a port=1", "2", "1", "comes first (by spec.port: without before with one)"},
		{[]Key{{By: ByLabel, At: []string{"role"}, Of: []string{"system", "owner"}, Absent: "system"}, created}, "b role=owner", "a", "2", "1", "comes last (by label role: owner after system); among defaults the last one wins"},
		{[]Key{{By: ByLabel, At: []string{"role"}}, created}, "b role=owner", "a", "2", "1", "comes last (by label role: owner after none); among defaults the last one wins"},
		{[]Key{{By: BySection}, created}, "b section=web", "a", "2", "1", "comes first (by section: it is for a section)"},
		{[]Key{{By: ByIndex}, created}, "a", "b", "2", "1", "comes first (by position)"},
		{[]Key{{By: ByIdentity}}, "a", "b", "", "", "comes first (by name)"},
		{[]Key{tier, name}, "b", "c", "", "", "comes first"},
		{[]Key{called, name}, "b", "c", "", "", "comes first (by tier)"},
		{nil, "a", "b", "", "", "comes first (by name)"},
	} {
		k := &Kind{}
		k.Compare = c.keys
		as := labelled(c.winner, c.loser)
		as[0].Index, as[1].Index = 1, 2
		for i, second := range []string{c.secondWon, c.secondLost} {
			if second != "" {
				as[i].Policy.Object.Created = candidates("n/x@" + second)[0].Policy.Object.Created
			}
		}
		ordered, ageIgnored := k.Order(as)
		d := k.Decide(as[0], as[1], ageIgnored)
		if got := d.Words(); got != c.want {
			t.Errorf("%s over %s: %s, want %s", c.winner, c.loser, got, c.want)
		}
		if first := ordered[0].Policy == as[0].Policy; d.Last == first {
			t.Errorf("%s over %s: last %v, and Order puts it first: %v", c.winner, c.loser, d.Last, first)
		}
	}
}

// That the age is passed over is said of two policies that have one, if it is because of a third.
func TestDecideBesideOneWithoutAge(t *testing.T) { // engine E9
	k := &Kind{Ordering: Ordering{Compare: keys(ByLevel, ByCreated, ByNamespacedName)}}
	as := candidates("n/a@2", "n/b@1", "n/c")
	if _, ageIgnored := k.Order(as); !ageIgnored {
		t.Fatal("the age counts")
	} else if got := k.Decide(as[0], as[1], ageIgnored).By(); !strings.HasPrefix(got, "by name: not all of the policies") {
		t.Error(got)
	}
}
