package policy

import (
	"fmt"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// What decided is the first key that tells two policies apart, told with what it found; what stands
// before it in the comparator is not.
func TestDecide(t *testing.T) { // engine E9
	weight := Key{By: ByAnnotation, At: []string{"weight"}, Number: true, Descending: true, Absent: "0"}
	created, name := Key{By: ByCreated}, Key{By: ByNamespacedName}
	tier := Key{By: ByFunc, Func: func(a, b *Attached) int { return a.Index - b.Index }}
	called := tier
	called.Name = "tier"
	for _, c := range []struct {
		keys                  []Key
		winner, loser         string // "name key=value …", the position before others if it comes first
		secondWon, secondLost string // creation times, "": not known
		want                  string
	}{
		{[]Key{weight, created, name}, "b weight=10", "a", "2", "1", "annotation weight: 10 before 0"},
		{[]Key{weight, created, name}, "b weight=x", "a weight=-1.5", "2", "1", "annotation weight: 0 before -1.5"},
		{[]Key{weight, created, name}, "b weight=5", "a weight=5.0", "1", "2",
			"age : 2026-01-01T00:00:01Z before 2026-01-01T00:00:02Z"},
		{[]Key{weight, created, name}, "b", "a", "2", "1", "age : 2026-01-01T00:00:02Z after 2026-01-01T00:00:01Z"},
		{[]Key{weight, created, name}, "a", "b", "", "1", "name : n/a before n/b, an age is unknown"},
		{[]Key{created, name}, "b", "a", "1", "1", "name : n/b after n/a, of one age"},
		{[]Key{name, created}, "a", "b", "2", "1", "name : n/a before n/b"},
		{[]Key{{By: ByField, At: []string{"spec", "priority"}, Number: true}, created}, "b priority=5",
			"a priority=10", "2", "1", "field spec.priority: 5 before 10"},
		{[]Key{{By: ByField, At: []string{"spec", "priority"}, Number: true, Name: "priority"}, created},
			"b priority=50", "a priority=10", "2", "1", "field priority: 50 after 10"},
		{[]Key{{By: ByField, At: []string{"spec", "port"}, Present: true}, created}, "b", "a port=1", "2", "1",
			"field spec.port: absent before present"},
		{[]Key{{By: ByLabel, At: []string{"role"}, Values: []string{"system", "owner"}, Absent: "system"}, created},
			"b role=owner", "a", "2", "1", "label role: owner after system"},
		{[]Key{{By: ByLabel, At: []string{"role"}}, created}, "b role=owner", "a", "2", "1",
			"label role: owner after none"},
		{[]Key{{By: BySection}, created}, "b section=web", "a", "2", "1", "section : section before object"},
		{[]Key{{By: ByIndex}, created}, "a", "b", "2", "1", "position : 1 before 2"},
		{[]Key{{By: ByIdentity}}, "a", "b", "", "", "name : n/a before n/b"},
		{[]Key{tier, name}, "b", "c", "", "", "order :  before "},
		{[]Key{called, name}, "b", "c", "", "", "order tier:  before "},
		{nil, "a", "b", "", "", "name : a before b"},
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
		if got := decision(d); got != c.want {
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
	} else if got := k.Decide(as[0], as[1], ageIgnored); got.Criterion != merge.CriterionName ||
		got.Age != merge.AgeIgnored {
		t.Error(got)
	}
}

// decision writes a decision as one line.
func decision(d merge.Decision) string {
	order := "before"
	if d.Last {
		order = "after"
	}
	out := fmt.Sprintf("%s %s: %s %s %s", d.Criterion, d.KeyName, d.Winner, order, d.Loser)
	return out + map[merge.Age]string{merge.AgeUnknown: ", an age is unknown", merge.AgeIgnored: ", age ignored",
		merge.AgeEqual: ", of one age"}[d.Age]
}
